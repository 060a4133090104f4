#include "service/apis/mcp/session_interpreter.h"

#include <utility>
#include <variant>

namespace service::mcp {

namespace {

using Refusal = ForeignSessions::Refusal;

constexpr int kGone = 410, kNotFound = 404;
constexpr size_t kMostLogged = 4 << 10;  // bytes of a step

// Both are called on another thread, the second one's answer being of no use but to be there.
Dispatcher::Words words_into(std::shared_ptr<std::optional<Outcome>> outcome, Bounds bounds) {
  return [outcome = std::move(outcome), bounds](const runtime::JobResult& result) {
    *outcome = outcome_of(result, bounds);
    return Response{};
  };
}

Interpreter::Ended refused(std::string why, bool is_gone = false) {
  Interpreter::Ended ended;
  ended.refusal = std::move(why);
  ended.is_gone = is_gone;
  return ended;
}

Interpreter::Ended refused(const Refusal& why) {
  return refused(why.why, why.status == kGone || why.status == kNotFound);
}

}  // namespace

Interpreter::Ticket SessionInterpreter::begin(std::function<void(Begun)> told) {
  auto begun = [this, alive = std::weak_ptr(alive_), sessions = &parts_.sessions, client = client_,
                told = std::move(told)](std::variant<ForeignSessions::Begun, Refusal> answer) {
    const auto* made = std::get_if<ForeignSessions::Begun>(&answer);
    if (alive.expired()) {
      if (made) sessions->end(client, made->session);
      return;
    }
    if (!made) return told({"", std::get<Refusal>(answer).why});
    session_ = made->session;
    told({made->node, ""});
  };
  return parts_.sessions.begin(caller(), "{}", std::move(begun));
}

Interpreter::Ticket SessionInterpreter::run(const std::string& node, const Json& fields,
                                            Bounds bounds, Told told) {
  const auto defaults = parts_.sessions.defaults_of(client_, node);
  auto step = defaults ? read_step(line_of(fields), *defaults, node)
                       : sys::Result<ReadStep>(ReadStep{});  // run() tells where it is
  if (!step) {
    told(refused(step.error().text()));
    return 0;
  }
  // The log is for who wants to run it again, which no agent does: long texts would fill it.
  if (step->body.size() > kMostLogged) step->body = "{}";
  auto outcome = std::make_shared<std::optional<Outcome>>();
  auto ran = [outcome, told = std::move(told)](std::variant<ForeignSessions::Ran, Refusal> answer) {
    if (const auto* no = std::get_if<Refusal>(&answer)) return told(refused(*no));
    auto& done = std::get<ForeignSessions::Ran>(answer);
    Ended ended;
    if (done.kept) ended.node = std::move(done.node);
    ended.why_not = std::move(done.why_not);
    ended.outcome = std::move(*outcome);
    told(std::move(ended));
  };
  return parts_.sessions.run(caller(), node, *std::move(step), {words_into(outcome, bounds)},
                             std::move(ran));
}

Interpreter::Ticket SessionInterpreter::run_job(const Json& fields, Bounds bounds, Told told) {
  const auto refuse = [&told](std::string why) {
    told(refused(std::move(why)));
    return Ticket{0};
  };
  if (parts_.jobs.is_ending()) return refuse("the service is ending");
  auto job = runtime::parse_job(line_of(fields), parts_.defaults);
  if (!job) return refuse(job.error().text());
  auto outcome = std::make_shared<std::optional<Outcome>>();
  Dispatcher::Order order;
  order.job = std::move(job).value();
  order.job.session.clear();
  if (order.job.id.empty()) order.job.id = new_job_id();
  order.client = client_;
  order.api = parts_.api;
  order.share = Allowance::Share(parts_.held, client_);
  if (!order.share.resize(order.job.source.size() + order.job.stdin_bytes.size()))
    return refuse("too many bytes are held for this client already");
  order.words = words_into(outcome, bounds);
  order.done = [outcome, told](const Finished&) {
    Ended ended;
    ended.outcome = std::move(*outcome);
    told(std::move(ended));
  };
  const auto taken = parts_.dispatcher.submit(std::move(order));
  if (const auto* full = std::get_if<Dispatcher::Busy>(&taken)) return refuse(full->why);
  return std::get<Dispatcher::Ticket>(taken);
}

void SessionInterpreter::end() {
  if (!session_.empty()) parts_.sessions.end(client_, std::exchange(session_, ""));
}

}  // namespace service::mcp
