#pragma once
// The parts of the service that the native API uses; all of them outlive it.

#include <algorithm>
#include <functional>

#include "runtime/engine/engine.h"
#include "runtime/loop/loop.h"
#include "service/admission/dispatcher.h"
#include "service/admission/readers.h"
#include "service/admission/tenancy.h"
#include "service/apis/installed_runtimes.h"
#include "service/deadlines.h"
#include "service/live_sessions.h"
#include "service/observe/observer.h"
#include "service/options.h"

namespace service {

struct Described;
class SessionKeeper;

struct NativeContext {
  const ServiceOptions& options;
  const Facts& facts;
  const Phase& phase;
  const Tenancy& tenancy;
  runtime::Engine& engine;
  runtime::Loop& loop;
  Deadlines& deadlines;
  Readers& readers;
  Dispatcher& dispatcher;
  SessionKeeper& keeper;
  LiveSessions& sessions;
  InstalledRuntimes& runtimes;
  Observer& observer;
  std::function<void()> rested;  // durable jobs have left nothing to be written
  std::function<void(std::string& into)> append_metrics;  // of other parts of the service
  std::function<void(Described& into)> describe_others;   // what other parts of the service have

  // Of a job or batch that is asked for later: "j-0123abcd", or "j-0123abcd-NAME" at a router that
  // others know.
  std::string new_kept_id(char kind = 'j') const {
    const std::string id = kind + new_job_id().substr(1);
    return options.router.empty() ? id : id + '-' + options.router;
  }

  // The jobs of one stream (JobStream) at once: more than the dispatcher gives to the engine.
  size_t jobs_of_stream() const {
    constexpr size_t kPerWorker = 12;
    return kPerWorker * std::max(1u, engine.workers());
  }

  bool is_ending() const { return phase == Phase::kEnding || phase == Phase::kEnded; }
};

// The seconds of X-Zygo-Patience into `patience`, or the answer to a request with a wrong one.
std::optional<Response> read_patience(const Request& request,
                                      std::optional<sys::Milliseconds>& patience);

// It is the answer to an earlier request with the same Idempotency-Key.
void mark_replayed(Response& response);

}  // namespace service
