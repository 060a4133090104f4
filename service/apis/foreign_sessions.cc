#include "service/apis/foreign_sessions.h"

#include <algorithm>
#include <utility>

#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"
#include "service/sessions/session_answers.h"

namespace service {

using runtime::Job;

namespace {

using Refusal = ForeignSessions::Refusal;

Refusal log_full() {
  return {
      507,
      "the steps of this session, with what they say, are as many and as long as a tenant's may "
      "be"};
}
Refusal too_much() { return {503, "too many bytes are held for this client already", 1}; }
Refusal expired_step() { return {429, "the step could not be started in time", 1}; }
Refusal missing(const SessionBook::Missing& of) { return {of.was_there ? 410 : 404, of.why}; }

// A step whose request was no job in JSON, as the log of its session shows it.
std::string body_of(const Job& job) {
  std::string body = "{\"source\":";
  runtime::append_json_string(runtime::repaired_utf8(job.source), body);
  return body + '}';
}

size_t bytes_of(const Job& job) {
  size_t bytes = sizeof job + job.source.size() + job.calls.size() + job.stdin_bytes.size();
  for (const runtime::InputFile& file : job.files) bytes += file.path.size() + file.content.size();
  return bytes;
}

}  // namespace

std::optional<Refusal> ForeignSessions::refusal() const {
  if (!keeps_nodes())
    return Refusal{501, "a router has no sessions; they stay with the service that began them"};
  if (parts_.jobs.is_ending()) return Refusal{503, "the service is ending", 1};
  return std::nullopt;
}

std::variant<SessionBook::Place, Refusal> ForeignSessions::place_of(const std::string& client,
                                                                    const std::string& node) {
  SessionKeeper& keeper = parts_.keeper;
  keeper.end_idle();
  auto found = keeper.book().find_node(node, keeper.sees(client), sys::monotonic_now());
  if (const auto* none = std::get_if<SessionBook::Missing>(&found)) return missing(*none);
  const auto place = std::get<SessionBook::Place>(found);
  if (!place.step->gone.empty()) return Refusal{410, place.step->gone};
  return place;
}

std::optional<Allowance::Share> ForeignSessions::share_for(const Caller& caller,
                                                           size_t bytes) const {
  Exchange* exchange = caller.exchange.get();
  if (exchange) return std::exchange(exchange->share, exchange->share.another());
  Allowance::Share share(parts_.held, caller.client);
  if (!share.resize(bytes)) return std::nullopt;
  return share;
}

std::variant<ForeignSessions::Ticket, Refusal> ForeignSessions::submit(
    const Caller& caller, const std::string& session, Dispatcher::Order order,
    std::function<void(Finished)> ended) {
  Job& job = order.job;
  if (job.id.empty()) job.id = new_job_id();
  order.client = caller.client;
  order.api = caller.api;
  order.trace = caller.exchange ? caller.exchange->trace : caller.trace;
  order.patience = caller.patience;
  if (job.deadline)
    order.patience = std::min(order.patience.value_or(*job.deadline), *job.deadline);
  if (caller.exchange) {
    caller.exchange->request.body = std::string();  // the job has it now
    caller.exchange->jobs.push_back(job.id);
    caller.exchange->job_count = 1;
  }
  auto share = share_for(caller, bytes_of(job));
  if (!share) return too_much();
  order.share = *std::move(share);
  // The ticket is known when the result comes: that is never before submit() has returned.
  auto ticket = std::make_shared<Ticket>(0);
  order.done = [this, session, ticket, ended = std::move(ended)](Finished finished) {
    parts_.keeper.note_ended(session, *ticket);
    ended(std::move(finished));
  };
  auto taken = parts_.dispatcher.submit(std::move(order));
  if (const auto* full = std::get_if<Dispatcher::Busy>(&taken))
    return Refusal{429, full->why, full->retry_after};
  *ticket = std::get<Ticket>(taken);
  parts_.keeper.note_running(session, *ticket);
  if (caller.exchange) caller.exchange->when_gone([this, ticket] { withdraw(*ticket); });
  return *ticket;
}

ForeignSessions::Ticket ForeignSessions::begin(Caller caller, std::string_view fields,
                                               ToldBegun told) {
  const auto refuse = [&told](Refusal why) {
    told(std::move(why));
    return Ticket{0};
  };
  if (auto no = refusal()) return refuse(*std::move(no));
  SessionKeeper& keeper = parts_.keeper;
  keeper.end_idle();
  auto read = read_beginning(fields, parts_.defaults);
  if (!read) return refuse({400, read.error().text()});
  Job& job = read->job;
  if (!parts_.knows_template(job.template_name))
    return refuse({400, "template: \"" + job.template_name + "\" is not known"});
  const auto tenant = parts_.tenancy.tenant_of(caller.client, job.tenant);
  if (!tenant) return refuse({403, tenant.error().text()});
  Making making{"s" + new_job_id().substr(1), *tenant, "", std::move(read->body), nullptr};
  if (!keeper.book().has_room(*tenant, making.session, making.body.size()))
    return refuse(log_full());
  making.held = held_share(Allowance::Share(parts_.held, caller.client), making.body.size());
  if (!making.held) return refuse(too_much());
  const std::string session = making.session;
  auto behind = std::make_shared<const Job>(defaults_behind(job).job);
  Dispatcher::Order order;
  order.job = std::move(job);
  auto taken = submit(caller, session, std::move(order),
                      [this, making = std::move(making), behind, told](const Finished& finished) {
                        const std::string id = making.session;
                        const std::string node = parts_.keeper.begin(making, *behind, finished);
                        if (!node.empty()) return told(Begun{id, node});
                        if (finished.expired) return told(expired_step());
                        NoBeginning no = why_no_beginning(finished);
                        told(Refusal{no.status, std::move(no.why), no.retry_after});
                      });
  if (auto* no = std::get_if<Refusal>(&taken)) return refuse(std::move(*no));
  return std::get<Ticket>(taken);
}

std::shared_ptr<const runtime::JobDefaults> ForeignSessions::defaults_of(const std::string& client,
                                                                         const std::string& node) {
  const auto found = place_of(client, node);
  const auto* place = std::get_if<SessionBook::Place>(&found);
  return place ? place->session->defaults : nullptr;
}

ForeignSessions::Ticket ForeignSessions::run(Caller caller, const std::string& node, ReadStep step,
                                             Telling telling, ToldRan told) {
  const auto refuse = [&told](Refusal why) {
    told(std::move(why));
    return Ticket{0};
  };
  if (auto no = refusal()) return refuse(*std::move(no));
  auto found = place_of(caller.client, node);
  if (auto* no = std::get_if<Refusal>(&found)) return refuse(std::move(*no));
  SessionKeeper& keeper = parts_.keeper;
  const Session& session = *std::get<SessionBook::Place>(found).session;
  Job& job = step.job;
  job.session = node;
  job.template_name = session.defaults->job.template_name;
  job.policy.profile = session.defaults->job.policy.profile;
  job.policy.has_profile = session.defaults->job.policy.has_profile;
  job.tenant = keeper.asked_for(caller.client, session.tenant);
  if (!job.recorded) job.record = false;
  if (step.body.empty()) step.body = body_of(job);
  Making making{session.id, session.tenant, node, std::move(step.body), nullptr};
  if (!keeper.book().has_room(session.tenant, session.id, making.body.size()))
    return refuse(log_full());
  making.held = held_share(Allowance::Share(parts_.held, caller.client), making.body.size());
  if (!making.held) return refuse(too_much());
  Dispatcher::Order order;
  order.job = std::move(job);
  order.words = std::move(telling.words);
  order.amend = std::move(telling.amend);
  const std::string id = session.id;
  auto taken = submit(caller, id, std::move(order),
                      [this, making = std::move(making), told](Finished finished) {
                        end_run(making, std::move(finished), told);
                      });
  if (auto* no = std::get_if<Refusal>(&taken)) return refuse(std::move(*no));
  return std::get<Ticket>(taken);
}

void ForeignSessions::end_run(Making making, Finished finished, const ToldRan& told) {
  const std::string parent = making.parent, tenant = making.tenant, session = making.session;
  Ran ran;
  ran.node = parts_.keeper.keep(std::move(making), finished);
  if (finished.expired) return told(expired_step());
  ran.kept = !ran.node.empty();
  if (!ran.kept) {
    ran.node = parent;
    ran.why_not = finished.step && !finished.step->kept ? finished.step->why_not
                                                        : "its session is gone, or its log is full";
  }
  const bool is_of_a_node = finished.step.has_value();
  const bool is_bad = finished.label == "BadJob";
  ran.finished = std::move(finished);
  if (!is_bad || is_of_a_node) return told(std::move(ran));
  // Perhaps because the node is not there any more.
  auto kept = std::make_shared<Ran>(std::move(ran));
  parts_.keeper.ask(tenant, parent, [kept, told](std::string why) {
    if (why.empty()) return told(std::move(*kept));
    told(Refusal{410, std::move(why)});
  });
}

bool ForeignSessions::end(const std::string& client, const std::string& session) {
  SessionKeeper& keeper = parts_.keeper;
  const auto found = keeper.book().find_session(session, keeper.sees(client), sys::monotonic_now());
  if (!std::holds_alternative<Session*>(found)) return false;
  keeper.end(session);
  return true;
}

bool ForeignSessions::leave_out(const std::string& client, const std::string& node) {
  SessionKeeper& keeper = parts_.keeper;
  const auto found = keeper.book().find_node(node, keeper.sees(client), sys::monotonic_now());
  const auto* place = std::get_if<SessionBook::Place>(&found);
  if (!place) return false;
  keeper.leave_out(place->session->tenant, node);
  return true;
}

bool ForeignSessions::take_out(const std::string& client, const std::string& node) {
  const auto found = place_of(client, node);
  const auto* place = std::get_if<SessionBook::Place>(&found);
  if (!place) return false;
  parts_.keeper.take_out(place->session->tenant, node);
  return true;
}

}  // namespace service
