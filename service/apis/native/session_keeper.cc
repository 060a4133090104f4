#include "service/apis/native/session_keeper.h"

#include <chrono>
#include <utility>

#include "service/sessions/step_reader.h"

namespace service {

namespace {

sys::Milliseconds now_since_1970() {
  return std::chrono::duration_cast<sys::Milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
}

SessionBook::Plan plan_within(size_t held) {
  SessionBook::Plan plan;
  plan.most_bytes = std::min(plan.most_bytes, held / 4);
  return plan;
}

SessionStep step_of(SessionKeeper::Making making, const Finished& finished) {
  return {.node = finished.step->node,
          .parent = std::move(making.parent),
          .body = std::move(making.body),
          .label = finished.label,
          .bytes = finished.step->bytes,
          .when = now_since_1970(),
          .held = std::move(making.held)};
}

}  // namespace

SessionKeeper::SessionKeeper(const NativeContext& context)
    : context_(context), book_(plan_within(context.options.held)) {}

SessionBook::Sees SessionKeeper::sees(const std::string& client) const {
  return [&tenancy = context_.tenancy, client](const std::string& tenant) {
    const auto own = tenancy.tenant_of(client, "");
    if (own && *own == tenant) return true;
    return tenancy.by() == TenantBy::kField && tenancy.tenant_of(client, tenant).ok();
  };
}

std::string SessionKeeper::asked_for(const std::string& client, const std::string& tenant) const {
  const auto own = context_.tenancy.tenant_of(client, "");
  return own && *own == tenant ? "" : tenant;
}

std::string SessionKeeper::begin(Making making, const runtime::Job& job, const Finished& finished) {
  if (!finished.step || !finished.step->kept) return "";
  auto defaults = std::make_shared<const runtime::JobDefaults>(defaults_behind(job));
  Session session{making.session, making.tenant, std::move(defaults), {}};
  free(book_.begin(std::move(session), step_of(std::move(making), finished), sys::monotonic_now()));
  return finished.step->node;
}

std::string SessionKeeper::keep(Making making, const Finished& finished) {
  if (!finished.step || !finished.step->kept) return "";
  const std::string session = making.session, tenant = making.tenant;
  SessionStep step = step_of(std::move(making), finished);
  const bool has_place = book_.has_session(session) && book_.has_node(step.parent) &&
                         book_.has_room(tenant, session, SessionBook::bytes_of(step));
  if (!has_place) {
    forget(tenant, finished.step->node);
    return "";
  }
  free(book_.add(session, std::move(step), sys::monotonic_now()));
  return finished.step->node;
}

void SessionKeeper::forget(const std::string& tenant, const std::string& node) {
  if (!node.empty()) context_.engine.forget_nodes(tenant, {node});
}

void SessionKeeper::take_out(const std::string& tenant, const std::string& node) {
  book_.take_out(node, "node \"" + node + "\" is gone: the request that tried it did not keep it");
  forget(tenant, node);
}

void SessionKeeper::delete_node(const SessionBook::Place& place) {
  const std::string node = place.step->node;
  book_.note_gone(node, "node \"" + node + "\" is gone: its client has deleted it");
  forget(place.session->tenant, node);
}

void SessionKeeper::end(const std::string& session) { free({book_.end(session)}); }

void SessionKeeper::end_idle() { free(book_.end_idle(sys::monotonic_now())); }

void SessionKeeper::free(const std::vector<SessionBook::Freed>& freed) {
  for (const SessionBook::Freed& each : freed)
    context_.engine.forget_nodes(each.tenant, each.nodes);
}

// The engine may be another process, which answers when it comes to it.
void SessionKeeper::look_for(const std::string& tenant, std::vector<std::string> nodes,
                             std::function<void(const Whys&)> then) {
  struct Errand {
    std::vector<std::string> nodes;
    Whys whys;
  };
  auto errand = std::make_shared<Errand>(Errand{std::move(nodes), {}});
  runtime::run_aside(
      context_.loop,
      [errand, tenant, engine = &context_.engine] {
        errand->whys = engine->why_gone(tenant, errand->nodes);
      },
      [this, alive = std::weak_ptr(alive_), errand, then = std::move(then)] {
        if (alive.expired()) return;
        for (size_t i = 0; i < errand->nodes.size(); ++i) {
          if (!errand->whys[i].empty()) book_.note_gone(errand->nodes[i], errand->whys[i]);
        }
        then(errand->whys);
      });
}

void SessionKeeper::refresh(const Session& session, std::function<void()> then) {
  std::vector<std::string> nodes;
  for (const auto& [number, step] : session.steps) {
    if (step.gone.empty()) nodes.push_back(step.node);
  }
  look_for(session.tenant, std::move(nodes), [then = std::move(then)](const Whys&) { then(); });
}

void SessionKeeper::ask(const std::string& tenant, const std::string& node,
                        std::function<void(std::string)> then) {
  look_for(tenant, {node}, [then = std::move(then)](const Whys& whys) { then(whys.front()); });
}

}  // namespace service
