#include "service/apis/e2b/sandboxes.h"

#include <fmt/format.h>

#include <utility>

#include "sandbox/sys/utc.h"
#include "service/apis/e2b/answers.h"
#include "service/apis/results.h"

namespace service::e2b {

using nlohmann::ordered_json;

namespace {

constexpr std::string_view kHome = "/home/user";
constexpr size_t kLongestKey = 200;  // of what is kept of it

Response no_sandbox(const std::string& id) {
  return refusal(404, fmt::format("sandbox \"{}\" was not found", id));
}

Context usual_context(State now) {
  return {.id = new_id('c'), .cwd = std::string(kHome), .now = std::move(now)};
}

}  // namespace

Route Sandboxes::route(Method method, std::string_view pattern, Asked asked) {
  return {method, pattern, Scope::kJobs,
          [this, asked](const ExchangePtr& exchange, const std::string& id) {
            (this->*asked)(exchange, id);
          }};
}

Routes Sandboxes::routes() {
  return {
      route(Method::kPost, "/v2/sandboxes", &Sandboxes::create),
      route(Method::kPost, "/sandboxes", &Sandboxes::create),
      route(Method::kGet, "/v2/sandboxes", &Sandboxes::list),
      route(Method::kGet, "/sandboxes", &Sandboxes::list),
      route(Method::kGet, "/sandboxes/{id}", &Sandboxes::show),
      route(Method::kDelete, "/sandboxes/{id}", &Sandboxes::kill_asked),
      route(Method::kPost, "/sandboxes/{id}/timeout", &Sandboxes::set_life),
      route(Method::kPost, "/v2/sandboxes/{id}/connect", &Sandboxes::connect),
      route(Method::kPost, "/sandboxes/{id}/connect", &Sandboxes::connect),
      route(Method::kPost, "/sandboxes/{id}/resume", &Sandboxes::resume),
      route(Method::kPost, "/sandboxes/{id}/pause", &Sandboxes::pause),
      route(Method::kPost, "/sandboxes/{id}/fork", &Sandboxes::fork),
      route(Method::kPost, "/sandboxes/{id}/snapshots", &Sandboxes::take_snapshot),
      route(Method::kGet, "/snapshots", &Sandboxes::list_snapshots),
      route(Method::kDelete, "/templates/{id}", &Sandboxes::delete_snapshot),
  };
}

// Holders of tokens do not see each other's sandboxes; without tokens whoever has made one is known
// by the key that the SDKs send all the same.
std::string Sandboxes::owner_of(const Exchange& exchange) const {
  if (parts_.context.knows_clients) return exchange.client;
  const std::string* key = exchange.request.header("x-api-key");
  return "key " + (key ? key->substr(0, kLongestKey) : "");
}

Sandbox* Sandboxes::find(const ExchangePtr& exchange, const std::string& id) {
  Sandbox* sandbox = parts_.store.find(owner_of(*exchange), id);
  if (!sandbox) exchange->answer(no_sandbox(id));
  return sandbox;
}

void Sandboxes::create(const ExchangePtr& exchange, const std::string&) {
  auto read = read_create(exchange->request.body);
  if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
  auto& creation = std::get<Creation>(read);
  if (const std::string why = parts_.store.why_full(exchange->client); !why.empty())
    return exchange->answer(refusal(429, why));
  Snapshot* of = parts_.store.snapshot(owner_of(*exchange), creation.template_id);
  if (of) return begin_from(exchange, creation, *of);
  const runtime::JobDefaults& defaults = parts_.context.defaults;
  const Beginning beginning{template_of(creation.template_id, defaults), new_id('w') + new_id('w'),
                            texts_of(creation.env)};
  auto told = [this, exchange, creation,
               beginning](std::variant<ForeignSessions::Begun, ForeignSessions::Refusal> is) {
    if (const auto* no = std::get_if<ForeignSessions::Refusal>(&is)) {
      return exchange->answer(with_retry(refusal(no->status, no->why), no->retry_after));
    }
    const auto& [session, node] = std::get<ForeignSessions::Begun>(is);
    const std::string why = exchange->open() ? parts_.store.why_full(exchange->client) : "gone";
    if (!why.empty()) {  // others came first, or nobody would know of it
      parts_.context.foreign_sessions.end(exchange->client, session);
      return exchange->answer(refusal(429, why));
    }
    const State first{session, node};
    Sandbox& made = begin(*exchange, creation, first, first);
    made.base = beginning.template_name;
    made.word = beginning.word;
    exchange->answer({.status = 201, .body = line_of(access_to(made))});
  };
  parts_.context.foreign_sessions.begin(ForeignSessions::Caller::of(exchange, kName),
                                        fields_of(beginning, defaults), std::move(told));
}

// A step tells whether the state is there.
void Sandboxes::begin_from(const ExchangePtr& exchange, const Creation& creation, Snapshot& of) {
  of.used = sys::time_since_1970();
  Sandbox& made = begin(*exchange, creation, of.first, of.state);
  made.base = of.base;
  made.word = of.word;
  made.env = of.env;
  for (const auto& [name, value] : creation.env) made.env[name] = value;
  for (const auto& [name, value] : of.leftovers.items())
    made.usual().leftovers[name] = made.env.value(name, nlohmann::json());
  const bool has_env = !creation.env.empty();
  Steps::Task task = task_of({{{"do", "restore"}, {"variables", texts_of(creation.env)}}, has_env});
  task.exchange = exchange;
  task.told = [this, exchange, has_env, id = made.id, owner = made.owner, snapshot = of.id,
               body = line_of(access_to(made))](const Steps::Outcome& outcome) {
    std::optional<Response> refused;
    if (const auto* no = std::get_if<ForeignSessions::Refusal>(&outcome)) {
      refused = with_retry(refusal(is_gone(*no) ? 404 : no->status, "the snapshot: " + no->why),
                           no->retry_after);
      if (is_gone(*no)) drop_snapshot(owner, snapshot);
    } else {
      const auto& ran = std::get<ForeignSessions::Ran>(outcome);
      if (!ran.finished.response || ran.finished.response->status != 200) {
        refused = refusal(503, "the snapshot could not be gone on from: " + ran.finished.label);
      } else if (has_env && !ran.kept) {
        refused = refusal(507, "the snapshot: " + ran.why_not);
      }
    }
    if (!refused && !exchange->open()) refused = Response{};  // nobody would know of it
    if (!refused) return exchange->answer({.status = 201, .body = body});
    kill(id, "it could not begin");
    exchange->answer(std::move(*refused));
  };
  if (!has_env) return parts_.steps.look(made, made.usual().now, std::move(task));
  parts_.steps.change(made, made.usual().id, std::move(task));
}

Sandbox& Sandboxes::begin(const Exchange& exchange, const Creation& creation, State first,
                          State now) {
  Sandbox sandbox{.id = new_id('i'),
                  .secret = new_id('t') + new_id('s'),
                  .owner = owner_of(exchange),
                  .client = exchange.client};
  sandbox.template_id = creation.template_id.empty() ? "base" : creation.template_id;
  sandbox.metadata = creation.metadata;
  sandbox.env = texts_of(creation.env);
  sandbox.first = std::move(first);
  sandbox.contexts.push_back(usual_context(std::move(now)));
  sandbox.began = sys::time_since_1970();
  sandbox.pauses = creation.pauses;
  Sandbox& kept = parts_.store.add(std::move(sandbox));
  live_for(kept, creation.life);
  return kept;
}

void Sandboxes::live_for(Sandbox& sandbox, sys::Milliseconds life) {
  sandbox.ends = sys::time_since_1970() + life;
  parts_.context.deadlines.forget(sandbox.deadline);
  sandbox.deadline = parts_.context.deadlines.at(sys::monotonic_now() + life,
                                                 [this, id = sandbox.id] { end_life(id); });
}

void Sandboxes::end_life(const std::string& id) {
  Sandbox* sandbox = parts_.store.find(id);
  if (!sandbox) return;
  if (sandbox->pauses && !sandbox->paused) return suspend(*sandbox);
  kill(id, "the sandbox has reached its timeout");
}

void Sandboxes::kill(const std::string& id, const std::string& why) {
  Sandbox* sandbox = parts_.store.find(id);
  if (!sandbox) return;
  parts_.context.deadlines.forget(sandbox->deadline);
  std::vector<std::string> contexts;
  for (const Context& context : sandbox->contexts) contexts.push_back(context.id);
  const auto freed = parts_.store.remove(id);
  for (const std::string& context : contexts) parts_.steps.drop(id, context, why);
  parts_.steps.forget(freed);
}

bool Sandboxes::lose(const std::string& id, const std::string& context, const std::string& why) {
  Sandbox* sandbox = parts_.store.find(id);
  const Context* lost = sandbox ? sandbox->context(context) : nullptr;
  if (!lost) return true;
  if (parts_.context.foreign_sessions.defaults_of(sandbox->client, lost->now.node)) return false;
  if (context == sandbox->usual().id) {
    kill(id, why);
    return true;
  }
  const auto freed = parts_.store.remove_context(*sandbox, context);
  parts_.steps.drop(id, context, why);
  parts_.steps.forget(freed);
  return true;
}

void Sandboxes::suspend(Sandbox& sandbox) {
  sandbox.paused = true;
  live_for(sandbox, kLongestLife);
  for (const Context& context : sandbox.contexts)
    parts_.steps.drop(sandbox.id, context.id, "the sandbox was paused");
}

void Sandboxes::list(const ExchangePtr& exchange, const std::string&) {
  exchange->answer(list_response(parts_.store.list(owner_of(*exchange)), exchange->request,
                                 parts_.context.defaults.job.limits));
}

void Sandboxes::show(const ExchangePtr& exchange, const std::string& id) {
  const Sandbox* sandbox = find(exchange, id);
  if (sandbox)
    exchange->answer({.body = line_of(about(*sandbox, parts_.context.defaults.job.limits))});
}

void Sandboxes::kill_asked(const ExchangePtr& exchange, const std::string& id) {
  if (!find(exchange, id)) return;
  kill(id, "the sandbox was killed");
  exchange->answer({.status = 204});
}

void Sandboxes::set_life(const ExchangePtr& exchange, const std::string& id) {
  auto life = read_life(exchange->request.body);
  if (auto* refused = std::get_if<Response>(&life)) return exchange->answer(std::move(*refused));
  const auto asked = std::get<std::optional<sys::Milliseconds>>(life);
  if (!asked) return exchange->answer(refusal(400, "timeout: expected a number of seconds"));
  Sandbox* sandbox = find(exchange, id);
  if (!sandbox) return;
  if (sandbox->paused) return exchange->answer(refusal(409, "the sandbox is paused"));
  live_for(*sandbox, *asked);
  exchange->answer({.status = 204});
}

void Sandboxes::connect(const ExchangePtr& exchange, const std::string& id) {
  auto life = read_life(exchange->request.body);
  if (auto* refused = std::get_if<Response>(&life)) return exchange->answer(std::move(*refused));
  Sandbox* sandbox = find(exchange, id);
  if (!sandbox) return;
  const bool was_paused = std::exchange(sandbox->paused, false);
  const auto asked = std::get<std::optional<sys::Milliseconds>>(life).value_or(kUsualLife);
  // A running one never gets less time than it has.
  if (was_paused || sys::time_since_1970() + asked > sandbox->ends) live_for(*sandbox, asked);
  exchange->answer({.status = was_paused ? 201 : 200, .body = line_of(access_to(*sandbox))});
}

void Sandboxes::resume(const ExchangePtr& exchange, const std::string& id) {
  const Sandbox* sandbox = find(exchange, id);
  if (!sandbox) return;
  if (!sandbox->paused) return exchange->answer(refusal(409, "the sandbox is not paused"));
  connect(exchange, id);
}

void Sandboxes::pause(const ExchangePtr& exchange, const std::string& id) {
  if (auto refused = refuse_pause(exchange->request.body))
    return exchange->answer(std::move(*refused));
  Sandbox* sandbox = find(exchange, id);
  if (!sandbox) return;
  if (sandbox->paused) return exchange->answer(refusal(409, "the sandbox is paused already"));
  suspend(*sandbox);
  exchange->answer({.status = 204});
}

void Sandboxes::fork(const ExchangePtr& exchange, const std::string& id) {
  auto read = read_fork(exchange->request.body);
  if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
  const Forking& wish = std::get<Forking>(read);
  const Sandbox* sandbox = find(exchange, id);
  if (!sandbox) return;
  if (sandbox->paused) return exchange->answer(refusal(409, "the sandbox is paused"));
  ordered_json made = ordered_json::array();
  for (unsigned i = 0; i < wish.count; ++i) {
    if (const std::string why = parts_.store.why_full(sandbox->client); !why.empty()) {
      made.push_back({{"error", {{"code", 429}, {"message", why}}}});
      continue;
    }
    Sandbox copy = *sandbox;
    copy.id = new_id('i');
    copy.secret = new_id('t') + new_id('s');
    copy.deadline = 0;
    for (Context& context : copy.contexts) context.settles = false;
    copy.began = sys::time_since_1970();
    Sandbox& kept = parts_.store.add(std::move(copy));
    live_for(kept, wish.life.value_or(kUsualLife));
    made.push_back({{"sandbox", access_to(kept)}});
  }
  exchange->answer({.status = 201, .body = line_of(made)});
}

void Sandboxes::take_snapshot(const ExchangePtr& exchange, const std::string& id) {
  auto name = read_snapshot(exchange->request.body);
  if (auto* refused = std::get_if<Response>(&name)) return exchange->answer(std::move(*refused));
  Sandbox* sandbox = find(exchange, id);
  if (!sandbox) return;
  parts_.steps.forget(parts_.store.remove_snapshots(sys::time_since_1970() - kLongestLife));
  if (const std::string why = parts_.store.why_full_of_snapshots(sandbox->client); !why.empty())
    return exchange->answer(refusal(429, why));
  Snapshot snapshot{.id = new_id('n'),
                    .name = std::get<std::string>(std::move(name)),
                    .owner = sandbox->owner,
                    .client = sandbox->client,
                    .sandbox = sandbox->id,
                    .base = sandbox->base,
                    .word = sandbox->word,
                    .env = sandbox->env,
                    .leftovers = sandbox->usual().leftovers,
                    .first = sandbox->first,
                    .state = sandbox->usual().now,
                    .used = sys::time_since_1970()};
  const std::string body = line_of(about(snapshot));
  parts_.store.add(std::move(snapshot));
  exchange->answer({.status = 201, .body = body});
}

void Sandboxes::list_snapshots(const ExchangePtr& exchange, const std::string&) {
  const std::string* of = exchange->request.query_value("sandboxID");
  const std::string* name = exchange->request.query_value("name");
  ordered_json list = ordered_json::array();
  for (const Snapshot* each : parts_.store.snapshots(owner_of(*exchange))) {
    const bool is_meant = (!of || of->empty() || *of == each->sandbox) &&
                          (!name || name->empty() || *name == each->name);
    if (is_meant) list.push_back(about(*each));
  }
  exchange->answer({.body = line_of(list)});
}

void Sandboxes::delete_snapshot(const ExchangePtr& exchange, const std::string& id) {
  if (!drop_snapshot(owner_of(*exchange), id))
    return exchange->answer(refusal(404, fmt::format("snapshot \"{}\" was not found", id)));
  exchange->answer({.status = 204});
}

bool Sandboxes::drop_snapshot(const std::string& owner, const std::string& id) {
  const auto freed = parts_.store.remove_snapshot(owner, id);
  if (freed) parts_.steps.forget(*freed);
  return freed.has_value();
}

}  // namespace service::e2b
