#pragma once
// ForeignSessions: sessions (docs/sessions.md) for foreign APIs. A session belongs to the tenant of
// the client that began it, and is in the one book that the native API has, too: the bounds hold
// for all together. Each step is a job, with the admission of any other. Loop thread only.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "service/admission/dispatcher.h"
#include "service/apis/foreign_jobs.h"
#include "service/apis/native/sessions/session_keeper.h"
#include "service/http/exchange.h"
#include "service/sessions/step_reader.h"

namespace service {

class ForeignSessions {
 public:
  using Ticket = Dispatcher::Ticket;

  // The parts of the service that it uses; all of them outlive it.
  struct Parts {
    SessionKeeper& keeper;
    const Tenancy& tenancy;
    runtime::Engine& engine;
    Dispatcher& dispatcher;
    const ForeignJobs& jobs;
    const Allowance& held;
    const runtime::JobDefaults& defaults;
    std::function<bool(const std::string&)> knows_template;
  };
  explicit ForeignSessions(Parts parts) : parts_(std::move(parts)) {}

  // Who wants a step.
  struct Caller {
    std::string client;    // as Exchange has it
    std::string_view api;  // its name, for the records; of static life
    // A request that waits for this step alone: its body is given up, the log of requests names the
    // job, and the step is withdrawn when its client leaves. None: withdraw() alone does that.
    ExchangePtr exchange = nullptr;
    std::optional<TraceContext> trace = std::nullopt;  // without an exchange, whose own counts
    std::optional<sys::Milliseconds> patience = ForeignJobs::kPatience;
    static Caller of(const ExchangePtr& exchange, std::string_view api) {
      return {exchange->client, api, exchange};
    }
  };
  // How a result is told. Both are called on any thread.
  struct Telling {
    Dispatcher::Words words = nullptr;                         // none: our JSON
    std::function<void(runtime::JobResult&)> amend = nullptr;  // before; none: nothing is changed
  };
  // It did not come to it, or the node is not there any more. `status` as HTTP has it.
  struct Refusal {
    int status;  // 400, 403, 404, 410 (gone), 422, 429, 501, 503, 507
    std::string why;
    unsigned retry_after = 0;  // seconds; 0: a retry is of no use
  };
  struct Begun {
    std::string session, node;
  };
  struct Ran {
    std::string node;     // where the session is now: the step's own, or else where it began
    bool kept = false;    // it is the step's own
    std::string why_not;  // in words
    Finished finished;    // `response` has the words, if there are any; else `json`
  };
  using ToldBegun = std::function<void(std::variant<Begun, Refusal>)>;
  using ToldRan = std::function<void(std::variant<Ran, Refusal>)>;

  // False: this service has no sessions (a router).
  bool keeps_nodes() const { return parts_.engine.keeps_nodes(); }

  // Begins a session with these fields of a job, as JSON: template, limits and policy hold for all
  // of its steps, files, env and source are its first step's. `told` is called once, perhaps before
  // this returns. The ticket is for withdraw(); 0: it is over already.
  Ticket begin(Caller caller, std::string_view fields, ToldBegun told);

  // What the session says for its steps; null: there is no such node for this client. A step's job
  // begins as a copy of its `job`, or is made by read_step().
  std::shared_ptr<const runtime::JobDefaults> defaults_of(const std::string& client,
                                                          const std::string& node);

  // Runs a step at a node. Its session, tenant, template and profile are the session's, whatever
  // the job says. An empty body is made of the job's source. `told` and the ticket as above.
  Ticket run(Caller caller, const std::string& node, ReadStep step, Telling telling, ToldRan told);

  // Its step ends as Cancelled; also one that is over, or 0.
  void withdraw(Ticket ticket) { parts_.dispatcher.withdraw(ticket); }

  // Frees a session, and withdraws its steps. False: there is none for this client.
  bool end(const std::string& client, const std::string& session);
  // Frees a node that was tried and is not wanted: where none goes on from it, it leaves no trace
  // in the session's log. False as above.
  bool take_out(const std::string& client, const std::string& node);
  // The same for one that nobody is at any more: the steps behind it are then behind its parent, so
  // that the log does not grow with what is done in a session. The first step stays.
  bool leave_out(const std::string& client, const std::string& node);

 private:
  using Making = SessionKeeper::Making;
  std::optional<Refusal> refusal() const;
  std::variant<SessionBook::Place, Refusal> place_of(const std::string& client,
                                                     const std::string& node);
  // Counts what a step takes, for its client. Nothing: that is too much.
  std::optional<Allowance::Share> share_for(const Caller& caller, size_t bytes) const;
  std::variant<Ticket, Refusal> submit(const Caller& caller, const std::string& session,
                                       Dispatcher::Order order,
                                       std::function<void(Finished)> ended);
  void end_run(Making making, Finished finished, const ToldRan& told);

  const Parts parts_;
};

}  // namespace service
