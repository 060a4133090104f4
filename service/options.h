#pragma once
// The operator's options of a service, and the facts that it reports for others.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/json/job/job_json.h"
#include "runtime/loop/loop.h"
#include "runtime/remote/protocol.h"
#include "service/admission/cors.h"
#include "service/admission/hosts.h"
#include "service/admission/tenancy.h"
#include "service/admission/tokens.h"
#include "service/apis/native/async_results.h"
#include "service/apis/registry.h"
#include "service/durable/ledger.h"
#include "service/http/server.h"
#include "service/observe/access_log.h"
#include "service/reloadable_config.h"

namespace service {

struct ServiceOptions {
  Server::Options http;
  size_t queue = 1000;              // jobs that wait
  size_t held = size_t{1} << 30;    // bytes of requests at once
  sys::Milliseconds grace{10'000};  // for what runs, at the end
  AsyncResults::Options kept;
  LogFormat log = LogFormat::kOff;
  std::string command = "serve";  // of zygo, as which it speaks of itself in the log
  Tokens tokens;                  // empty: none is asked for
  TenantBy tenant_by = TenantBy::kNone;
  runtime::JobDefaults defaults;
  std::string defaults_text;          // what they were parsed from; empty: nothing
  std::shared_ptr<Ledger> ledger;     // of durable jobs; none: there are none
  std::string blobs;                  // root of the store; empty: there is none
  std::vector<const KnownApi*> apis;  // of others
  ApiOptions api_options;
  std::vector<ApiMaker> parts;  // of the service, beside what it has always
  Cors cors;
  Hosts hosts;       // names that it may be called by where no token is asked for
  bool page = true;  // for people, at /
  std::string version;
  // Its name among others that know it: ids of kept jobs end with it, and answers have it (header
  // X-Zygo-Router). Empty: there are no others.
  std::string router = {};
  WebSocket::Limits websocket;
  bool warm = true;  // a job of the default template before /readyz says yes
};

struct Facts {
  std::function<bool(const std::string&)> knows_template;
  std::string templates;  // JSON
  // JSON, and whether all could be asked for it; may take its time, on another thread.
  std::function<std::pair<std::string, bool>()> runtimes;
  // The same; tries to break out of cells of its own. Empty: there is no such check.
  std::function<sys::Result<std::string>()> selfcheck;
  // The configuration as it is now; on another thread. Empty: it is as it was at the start.
  std::function<sys::Result<ReloadableConfig>()> reread = {};
  // Called with the service's loop before its first turn. Empty: not called.
  std::function<void(runtime::Loop&)> join = {};
  // Why the service cannot serve yet, though it has begun; empty: it can. Empty: it always can.
  std::function<std::string()> lack = {};
  // Reports the state of the service to its starter. Empty: not reported.
  std::function<void(runtime::ServiceState)> tell = {};
};

// How far the life of the service is.
enum class Phase : uint8_t { kWarmingUp, kReady, kEnding, kEnded };

// "warming up", "ready", "ending".
std::string_view name_of(Phase phase);

}  // namespace service
