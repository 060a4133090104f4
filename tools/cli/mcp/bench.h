#pragma once
// Bench: an engine's sessions and jobs for one client in this process, as a service has them for
// many. Owns the loop; borrows the engine. One thread.

#include <memory>
#include <string>

#include "runtime/engine/engine.h"
#include "runtime/loop/loop.h"
#include "service/admission/dispatcher.h"
#include "service/admission/tenancy.h"
#include "service/admission/tokens.h"
#include "service/apis/foreign_sessions.h"
#include "service/apis/mcp/interpreter.h"
#include "service/apis/native/sessions/session_keeper.h"
#include "service/deadlines.h"

namespace cli {

class Bench {
 public:
  // `steps` and `programs`: what the jobs of both kinds have where a call says nothing else.
  Bench(runtime::Engine& engine, runtime::JobDefaults steps, runtime::JobDefaults programs,
        std::function<bool(const std::string&)> knows_template);

  runtime::Loop& loop() { return loop_; }
  std::unique_ptr<service::mcp::Interpreter> interpreter();
  // Starts the template of steps, so that the first one does not wait for it.
  void warm_up();
  void cancel_all() { dispatcher_.cancel_all(); }

 private:
  const runtime::JobDefaults steps_, programs_;
  const service::Tokens tokens_;
  const service::Tenancy tenancy_{service::TenantBy::kNone, tokens_};
  service::Allowance held_;
  runtime::Loop loop_;
  service::Deadlines deadlines_;
  service::Dispatcher dispatcher_;
  service::SessionKeeper keeper_;
  service::ForeignJobs jobs_;
  service::ForeignSessions sessions_;
};

}  // namespace cli
