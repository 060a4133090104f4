#include "service/apis/e2b/contexts.h"

#include <algorithm>

#include "service/apis/e2b/answers.h"
#include "service/apis/e2b/envd.h"
#include "service/apis/e2b/request.h"
#include "service/apis/results.h"

namespace service::e2b {

using nlohmann::ordered_json;

namespace {

constexpr const char* kSandboxGone = "the sandbox is gone";

Response not_done(const ForeignSessions::Refusal& refused) {
  return with_retry(refusal(is_gone(refused) ? 409 : refused.status, refused.why),
                    refused.retry_after);
}

Response too_many() { return refusal(429, "the sandbox has as many contexts as it may have"); }

// Beyond the bytes of the files: what an archive says of each.
constexpr uint64_t kBeyondFiles = uint64_t{8} << 20;
constexpr sys::Bytes kMostPacked = sys::kibibytes(runtime::kGibKb);  // no job's output has more

}  // namespace

Route Contexts::route(Method method, std::string_view pattern, Asked asked) {
  // The secret of the sandbox is the permission.
  return {method, pattern, Scope::kOpen,
          [this, asked](const ExchangePtr& exchange, const std::string& id) {
            (this->*asked)(exchange, id);
          }};
}

Routes Contexts::routes() {
  return {
      route(Method::kPost, "/contexts", &Contexts::create),
      route(Method::kGet, "/contexts", &Contexts::list),
      route(Method::kDelete, "/contexts/{id}", &Contexts::remove),
      route(Method::kPost, "/contexts/{id}/restart", &Contexts::restart),
  };
}

void Contexts::renew(const ExchangePtr& exchange, const Renewal& wish, Renewed then) {
  Sandbox* sandbox = parts_.store.find(wish.sandbox);
  const Context* context = sandbox ? sandbox->context(wish.context) : nullptr;
  if (!context) return then(plain(502, kSandboxGone));
  Steps::Task task;
  task.exchange = exchange;
  Order order;
  order.what["do"] = "pack";
  task.fill = [source = source_of(order)](runtime::Job& job) {
    job.source = source;
    const uint64_t most = std::min(job.limits.disk.count + kBeyondFiles, kMostPacked.count);
    job.limits.out = std::max(job.limits.out, sys::Bytes{most});
  };
  task.note = note_of(order);
  task.words = [](const runtime::JobResult& result) { return download_response(result); };
  task.told = [this, exchange, wish, then = std::move(then)](Steps::Outcome outcome) {
    if (const auto* no = std::get_if<ForeignSessions::Refusal>(&outcome)) {
      const bool is_lost = is_gone(*no) && lost_(wish.sandbox, wish.context, no->why);
      return then(is_lost ? plain(502, no->why) : not_done(*no));
    }
    auto& finished = std::get<ForeignSessions::Ran>(outcome).finished;
    if (!finished.response) return then(refusal(409, "the request was withdrawn"));
    if (finished.response->status != 200) return then(std::move(*finished.response));
    unpack(exchange, wish, {std::move(finished.response->body), std::move(finished.held)}, then);
  };
  parts_.steps.look(*sandbox, context->now, std::move(task));
}

// On trial: nothing is the context's until it has succeeded.
void Contexts::unpack(const ExchangePtr& exchange, const Renewal& wish, Packed packed,
                      Renewed then) {
  const Sandbox* sandbox = parts_.store.find(wish.sandbox);
  if (!sandbox) return then(plain(502, kSandboxGone));
  if (!exchange->open()) return then(refusal(409, "the request was withdrawn"));
  Steps::Task task;
  task.exchange = exchange;
  const Order order{
      {{"do", "unpack"}, {"at", kUploads}, {"path", wish.cwd}, {"variables", sandbox->env}}, true};
  task.fill = [source = source_of(order),
               files = std::move(packed.archive)](runtime::Job& job) mutable {
    job.source = source;
    job.files.clear();
    job.files.push_back({std::string(kUploads) + "/0", std::move(files), false});
  };
  task.note = note_of(order);
  task.words = [](const runtime::JobResult& result) { return file_call_response(result); };
  task.told = [this, exchange, wish, then = std::move(then), held = std::move(packed.held),
               first = sandbox->first, client = sandbox->client](Steps::Outcome outcome) {
    if (const auto* no = std::get_if<ForeignSessions::Refusal>(&outcome)) {
      if (is_gone(*no) && !wish.afresh) return begin_afresh(exchange, wish, first.node, then);
      return then(not_done(*no));
    }
    const auto& ran = std::get<ForeignSessions::Ran>(outcome);
    const int status = ran.finished.response ? ran.finished.response->status : 500;
    if (ran.kept && status == 200) return then(State{first.session, ran.node});
    if (ran.kept) parts_.steps.take_out(client, ran.node);
    if (status == 200) return then(refusal(507, "the context cannot be kept: " + ran.why_not));
    then(refusal(status < 500 ? 400 : 500, "the context cannot begin in its working directory"));
  };
  parts_.steps.branch(*sandbox, sandbox->first, std::move(task));
}

// Nothing but contexts needs the first state, so it may be the one that had to go.
void Contexts::begin_afresh(const ExchangePtr& exchange, const Renewal& wish,
                            const std::string& gone, Renewed then) {
  const Sandbox* sandbox = parts_.store.find(wish.sandbox);
  if (!sandbox) return then(plain(502, kSandboxGone));
  // Another context that begins may have done it meanwhile.
  if (sandbox->first.node != gone) return renew(exchange, wish, std::move(then));
  auto told = [this, exchange, wish, gone, then = std::move(then)](
                  std::variant<ForeignSessions::Begun, ForeignSessions::Refusal> is) {
    if (const auto* no = std::get_if<ForeignSessions::Refusal>(&is)) return then(not_done(*no));
    const auto& [session, node] = std::get<ForeignSessions::Begun>(is);
    Sandbox* there = parts_.store.find(wish.sandbox);
    const bool is_wanted = there && there->first.node == gone;
    if (is_wanted) {
      parts_.steps.forget(parts_.store.set_first(*there, {session, node}));
    } else {
      parts_.context.foreign_sessions.end(exchange->client, session);
    }
    if (!there) return then(plain(502, kSandboxGone));
    Renewal again = wish;
    again.afresh = true;
    renew(exchange, again, then);
  };
  parts_.context.foreign_sessions.begin(
      ForeignSessions::Caller::of(exchange, kName),
      fields_of({sandbox->base, sandbox->word, sandbox->env}, parts_.context.defaults),
      std::move(told));
}

void Contexts::create(const ExchangePtr& exchange, const std::string&) {
  Sandbox* sandbox = sandbox_of(exchange, parts_.store);
  if (!sandbox) return;
  auto read = read_context(exchange->request.body);
  if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
  const NewContext& wish = std::get<NewContext>(read);
  if (!is_offered(wish.language))
    return exchange->answer(refusal(501, why_not_offered(wish.language)));
  if (sandbox->contexts.size() >= parts_.store.limits().contexts)
    return exchange->answer(too_many());
  const std::string cwd = wish.cwd.empty() ? sandbox->usual().cwd : wish.cwd;
  renew(exchange, {sandbox->id, sandbox->usual().id, cwd},
        [this, exchange, cwd, of = sandbox->id](std::variant<State, Response> is) {
          if (auto* refused = std::get_if<Response>(&is))
            return exchange->answer(std::move(*refused));
          add(exchange, of, cwd, std::get<State>(is));
        });
}

void Contexts::add(const ExchangePtr& exchange, const std::string& sandbox, const std::string& cwd,
                   const State& now) {
  const auto refuse = [&](Response why) {
    parts_.steps.take_out(exchange->client, now.node);
    exchange->answer(std::move(why));
  };
  Sandbox* of = parts_.store.find(sandbox);
  if (!of) return refuse(plain(502, kSandboxGone));
  if (!exchange->open()) return refuse({});  // nobody would know of it
  if (of->contexts.size() >= parts_.store.limits().contexts) return refuse(too_many());
  const Context& made = parts_.store.add_context(*of, {.id = new_id('c'), .cwd = cwd, .now = now});
  exchange->answer({.status = 201, .body = line_of(about(made))});
}

void Contexts::list(const ExchangePtr& exchange, const std::string&) {
  const Sandbox* sandbox = sandbox_of(exchange, parts_.store);
  if (!sandbox) return;
  ordered_json list = ordered_json::array();
  for (const Context& context : sandbox->contexts) list.push_back(about(context));
  exchange->answer({.body = line_of(list)});
}

void Contexts::remove(const ExchangePtr& exchange, const std::string& id) {
  Sandbox* sandbox = sandbox_of(exchange, parts_.store);
  if (!sandbox || !context_of(exchange, *sandbox, id)) return;
  if (id == sandbox->usual().id) {
    return exchange->answer(
        refusal(400, "the usual context has the sandbox's files, and cannot be removed"));
  }
  const auto freed = parts_.store.remove_context(*sandbox, id);
  parts_.steps.drop(sandbox->id, id, "the context was removed");
  parts_.steps.forget(freed);
  exchange->answer({.status = 204});
}

// It takes its turn at once: what waits or runs in the context is not done, what comes meanwhile
// waits for it.
void Contexts::restart(const ExchangePtr& exchange, const std::string& id) {
  Sandbox* sandbox = sandbox_of(exchange, parts_.store);
  const Context* context = sandbox ? context_of(exchange, *sandbox, id) : nullptr;
  if (!context) return;
  const Renewal wish{sandbox->id, id, context->cwd};
  const uint64_t held = parts_.steps.hold(wish.sandbox, id, "the context was restarted");
  renew(exchange, wish, [this, exchange, wish, held](std::variant<State, Response> is) {
    const auto* now = std::get_if<State>(&is);
    const bool goes_on = parts_.steps.resume(wish.sandbox, wish.context, held, now);
    if (!now) return exchange->answer(std::move(std::get<Response>(is)));
    if (goes_on) return exchange->answer({.status = 204});
    parts_.steps.take_out(exchange->client, now->node);
    exchange->answer(plain(409, "the context was removed, paused or restarted again meanwhile"));
  });
}

}  // namespace service::e2b
