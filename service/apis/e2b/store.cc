#include "service/apis/e2b/store.h"

#include <algorithm>
#include <utility>

namespace service::e2b {

namespace {

template <typename Counts>
size_t count_in(const Counts& counts, const std::string& key) {
  const auto found = counts.find(key);
  return found == counts.end() ? 0 : found->second;
}

// True: that was the last.
template <typename Counts>
bool take_one(Counts& counts, const std::string& key) {
  const auto found = counts.find(key);
  if (found == counts.end() || --found->second > 0) return false;
  counts.erase(found);
  return true;
}

void append(std::vector<SandboxStore::Freed>& to, std::vector<SandboxStore::Freed> more) {
  std::ranges::move(more, std::back_inserter(to));
}

}  // namespace

Context* Sandbox::context(const std::string& context_id) {
  if (context_id.empty()) return &usual();
  const auto found = std::ranges::find(contexts, context_id, &Context::id);
  return found == contexts.end() ? nullptr : &*found;
}

std::string SandboxStore::why_full(const std::string& client) const {
  if (count_in(of_client_, client) >= limits_.sandboxes)
    return "at most " + std::to_string(limits_.sandboxes) + " sandboxes at once; kill one first";
  return sandboxes_.size() < limits_.all_sandboxes ? "" : "there are too many sandboxes already";
}

std::string SandboxStore::why_full_of_snapshots(const std::string& client) const {
  if (count_in(snapshots_of_client_, client) >= limits_.snapshots)
    return "at most " + std::to_string(limits_.snapshots) + " snapshots; delete one first";
  return snapshots_.size() < limits_.all_snapshots ? "" : "there are too many snapshots already";
}

Sandbox& SandboxStore::add(Sandbox sandbox) {
  hold(sandbox.first);
  for (const Context& context : sandbox.contexts) hold(context.now);
  ++of_client_[sandbox.client];
  std::string id = sandbox.id;
  return sandboxes_.insert_or_assign(std::move(id), std::move(sandbox)).first->second;
}

Sandbox* SandboxStore::find(const std::string& id) {
  const auto found = sandboxes_.find(id);
  return found == sandboxes_.end() ? nullptr : &found->second;
}

Sandbox* SandboxStore::find(const std::string& owner, const std::string& id) {
  Sandbox* sandbox = find(id);
  return sandbox && sandbox->owner == owner ? sandbox : nullptr;
}

std::vector<const Sandbox*> SandboxStore::list(const std::string& owner) const {
  std::vector<const Sandbox*> found;
  for (const auto& [id, sandbox] : sandboxes_) {
    if (sandbox.owner == owner) found.push_back(&sandbox);
  }
  std::ranges::sort(found, [](const Sandbox* a, const Sandbox* b) {
    return std::tie(b->began, b->id) < std::tie(a->began, a->id);
  });
  return found;
}

std::vector<SandboxStore::Freed> SandboxStore::remove(const std::string& id) {
  std::vector<Freed> freed;
  auto taken = sandboxes_.extract(id);
  if (taken.empty()) return freed;
  const Sandbox& sandbox = taken.mapped();
  for (const Context& context : sandbox.contexts)
    append(freed, release(sandbox.client, context.now));
  append(freed, release(sandbox.client, sandbox.first));
  take_one(of_client_, sandbox.client);
  return freed;
}

std::vector<SandboxStore::Freed> SandboxStore::set(Sandbox& sandbox, Context& context,
                                                   State state) {
  hold(state);
  const State before = std::exchange(context.now, std::move(state));
  return release(sandbox.client, before);
}

std::vector<SandboxStore::Freed> SandboxStore::set_first(Sandbox& sandbox, State state) {
  hold(state);
  const State before = std::exchange(sandbox.first, std::move(state));
  return release(sandbox.client, before);
}

Context& SandboxStore::add_context(Sandbox& sandbox, Context context) {
  hold(context.now);
  return sandbox.contexts.emplace_back(std::move(context));
}

std::vector<SandboxStore::Freed> SandboxStore::remove_context(Sandbox& sandbox,
                                                              const std::string& id) {
  const auto found = std::ranges::find(sandbox.contexts, id, &Context::id);
  if (found == sandbox.contexts.end()) return {};
  const State state = found->now;
  sandbox.contexts.erase(found);
  return release(sandbox.client, state);
}

void SandboxStore::hold(const State& state) {
  ++node_uses_[state.node];
  ++session_uses_[state.session];
}

std::vector<SandboxStore::Freed> SandboxStore::release(const std::string& client,
                                                       const State& state) {
  std::vector<Freed> freed;
  const bool of_node = take_one(node_uses_, state.node);
  if (take_one(session_uses_, state.session)) {
    freed.push_back({client, {state.session, ""}});
  } else if (of_node) {
    freed.push_back({client, state});
  }
  return freed;
}

void SandboxStore::add(Snapshot snapshot) {
  hold(snapshot.first);
  hold(snapshot.state);
  ++snapshots_of_client_[snapshot.client];
  std::string id = snapshot.id;
  snapshots_.insert_or_assign(std::move(id), std::move(snapshot));
}

Snapshot* SandboxStore::snapshot(const std::string& owner, const std::string& id_or_name) {
  for (auto& [id, snapshot] : snapshots_) {
    const bool is_meant =
        id == id_or_name || (!snapshot.name.empty() && snapshot.name == id_or_name);
    if (is_meant && snapshot.owner == owner) return &snapshot;
  }
  return nullptr;
}

std::vector<const Snapshot*> SandboxStore::snapshots(const std::string& owner) const {
  std::vector<const Snapshot*> found;
  for (const auto& [id, snapshot] : snapshots_) {
    if (snapshot.owner == owner) found.push_back(&snapshot);
  }
  return found;
}

std::optional<std::vector<SandboxStore::Freed>> SandboxStore::remove_snapshot(
    const std::string& owner, const std::string& id) {
  const Snapshot* found = snapshot(owner, id);
  if (!found) return std::nullopt;
  return remove_snapshot(*found);
}

std::vector<SandboxStore::Freed> SandboxStore::remove_snapshots(sys::Milliseconds unused_since) {
  std::vector<Freed> freed;
  for (auto each = snapshots_.begin(); each != snapshots_.end();) {
    const Snapshot& found = (each++)->second;
    if (found.used < unused_since) append(freed, remove_snapshot(found));
  }
  return freed;
}

std::vector<SandboxStore::Freed> SandboxStore::remove_snapshot(const Snapshot& found) {
  const auto taken = snapshots_.extract(found.id);
  const Snapshot& snapshot = taken.mapped();
  take_one(snapshots_of_client_, snapshot.client);
  std::vector<Freed> freed = release(snapshot.client, snapshot.state);
  append(freed, release(snapshot.client, snapshot.first));
  return freed;
}

}  // namespace service::e2b
