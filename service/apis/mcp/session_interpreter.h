#pragma once
// SessionInterpreter: the steps of one client's session over the sessions that its service has, and
// jobs over its dispatcher. Loop thread only; the service outlives it.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "service/apis/foreign_sessions.h"
#include "service/apis/mcp/interpreter.h"

namespace service::mcp {

class SessionInterpreter : public Interpreter {
 public:
  // The parts of the service that it uses.
  struct Parts {
    ForeignSessions& sessions;
    ForeignJobs& jobs;
    Dispatcher& dispatcher;
    const Allowance& held;
    const runtime::JobDefaults& defaults;
    std::string_view api;  // its name, for the records
  };
  SessionInterpreter(Parts parts, std::string client) : parts_(parts), client_(std::move(client)) {}

  Ticket begin(std::function<void(Begun)> told) override;
  Ticket run(const std::string& node, const Json& fields, Bounds bounds, Told told) override;
  Ticket run_job(const Json& fields, Bounds bounds, Told told) override;
  void withdraw(Ticket ticket) override { parts_.dispatcher.withdraw(ticket); }
  void forget(const std::string& node) override { parts_.sessions.take_out(client_, node); }
  void end() override;

 private:
  // A step waits for its turn as long as its client does, which cancels what it gives up.
  ForeignSessions::Caller caller() const {
    ForeignSessions::Caller caller{client_, parts_.api};
    caller.patience = std::nullopt;
    return caller;
  }

  const Parts parts_;
  const std::string client_;
  std::string session_;  // empty: none has begun
  // A first step may end when nobody is there for it any more.
  const std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace service::mcp
