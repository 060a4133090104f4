#pragma once
// Api: one foreign HTTP API that the service speaks if its operator enables it. A folder here
// implements it, and registry.cc has a line for it; nothing else knows it. It reads requests in its
// own words, lets the service run their jobs, and answers in its own words. Loop thread only.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/json/job/job_json.h"
#include "runtime/loop/loop.h"
#include "sandbox/policy.h"
#include "service/admission/guard.h"
#include "service/admission/readers.h"
#include "service/apis/foreign_jobs.h"
#include "service/apis/foreign_sessions.h"
#include "service/apis/installed_runtimes.h"
#include "service/deadlines.h"
#include "service/live_sessions.h"
#include "service/observe/access_log.h"
#include "service/router.h"

namespace service {

// The parts of the service that an API may use; all of them outlive the API.
struct ApiContext {
  ForeignJobs& jobs;
  ForeignSessions& foreign_sessions;  // of steps
  LiveSessions& sessions;             // one job each, with live input and output
  InstalledRuntimes& runtimes;
  Dispatcher& dispatcher;
  runtime::Loop& loop;
  Deadlines& deadlines;
  Readers& readers;  // of long bodies
  Allowance& held;
  const Guard& guard;
  AccessLog& log;  // its format is the one that is in force
  const runtime::JobDefaults& defaults;
  sandbox::Layers layers;             // in force
  std::string version;                // zygo's
  uint64_t most_held = 0;             // bytes of all requests together
  bool knows_clients = false;         // clients are told apart, so what one keeps is its own
  WebSocket::Limits websocket;        // of one that the API opens itself
  sys::Milliseconds head_time;        // within which a client must have said what it wants
  std::function<void()> rested = {};  // see Api::is_busy()
};

class Api;
struct Described;
// Makes one that is no foreign API, but lives in the service as they do.
using ApiMaker = std::function<std::unique_ptr<Api>(const ApiContext&)>;

class Api {
 public:
  virtual ~Api() = default;

  // Its routes; they are asked for once, and their handlers live as long as the API.
  virtual Routes routes() = 0;
  // Those of them that are zygo's own, for the OpenAPI document.
  virtual void describe_to(Described& /*into*/) const {}
  // Its metrics, in the text of Prometheus (service/observe/metrics.h).
  virtual void append_metrics(std::string& /*into*/) const {}
  // The answer to a request that has no route; none: the service's own.
  virtual std::optional<Response> answer_without_route(const Request&) const {
    return std::nullopt;
  }
  // Answers an admitted request instead of whoever has its route, or calls `here`, now or later,
  // for that one to answer. False: this API has nothing to do with it.
  virtual bool takes(const ExchangePtr& /*exchange*/, const std::function<void()>& /*here*/) {
    return false;
  }
  // Where its clients put their token, beside the usual places.
  virtual TokenPlaces token_places() const { return {}; }
  // The service ends: nothing new is taken. It ends when nothing is_busy() any more, or its grace
  // is over; whoever was busy calls ApiContext::rested.
  virtual void begin_end() {}
  virtual bool is_busy() const { return false; }
  // Everything that was accepted is answered, and nobody is busy: connections that it keeps may
  // close now. May be called again.
  virtual void close_rest() {}
};

}  // namespace service
