#include "runtime/sessions/node_store.h"

#include <sys/random.h>

#include <algorithm>
#include <array>

namespace runtime {

using sys::Nanoseconds;
using sys::Result;

namespace {

constexpr size_t kMostGone = 10'000;

// Who knows an id may run at it, within the tenant; so none can be guessed.
std::string new_id() {
  constexpr char kDigits[] = "0123456789abcdef";
  std::array<unsigned char, 12> bytes;
  VERIFY(::getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  std::string id = "n-";
  for (const unsigned char byte : bytes) {
    id += kDigits[byte >> 4];
    id += kDigits[byte & 15];
  }
  return id;
}

}  // namespace

// The oldest that nobody goes on from and that free so much together; none if all do not. What
// several have is free when the last of them has gone, so that one may free nothing: that stays.
std::vector<std::string> NodeStore::spare_nodes(const ByUse& by_use,
                                                NodeBudget::Amount wanted) const {
  std::vector<const Node*> passed;
  NodeBudget::Amount found;
  std::unordered_map<const NodeContents*, long> others;  // who have it, too
  const auto is_enough = [&] { return found.bytes >= wanted.bytes && found.files >= wanted.files; };
  for (auto id = by_use.begin(); !is_enough() && id != by_use.end(); ++id) {
    const Kept& kept = nodes_.at(*id);
    if (kept.node.use_count() > 1) continue;
    for (const auto& file : kept.node->state->files) {
      const auto left = others.try_emplace(file.get(), file.use_count()).first;
      if (--left->second > 0) continue;
      found.bytes += file->bytes;
      ++found.files;
    }
    passed.push_back(kept.node.get());
  }
  if (!is_enough()) return {};
  std::vector<std::string> spare;
  for (const Node* node : passed) {
    const auto& files = node->state->files;
    const bool frees = std::any_of(files.begin(), files.end(),
                                   [&](const auto& file) { return others.at(file.get()) == 0; });
    if (frees) spare.push_back(node->id);
  }
  return spare;
}

NodeBudget::Hold NodeStore::reserve(const std::string& tenant, uint64_t bytes) {
  for (;;) {
    if (NodeBudget::Hold hold = budget_->take(tenant, bytes)) return hold;
    // Others may take what one has given up. Who drops nothing finds what others have given back.
    if (!make_room(tenant, bytes)) return budget_->take(tenant, bytes);
  }
}

// False: there is nothing to drop for it.
bool NodeStore::make_room(const std::string& tenant, uint64_t bytes) {
  Dropped dropped;
  std::lock_guard lock(mutex_);
  drop_lost(dropped);
  const auto lacking = budget_->lacking(tenant, bytes);
  const auto own = by_tenant_.find(tenant);
  if (!lacking || own == by_tenant_.end()) return !dropped.empty();
  for (const std::string& id : spare_nodes(own->second, *lacking))
    drop(nodes_.find(id), Why::kRoom, dropped);
  return !dropped.empty();
}

std::string NodeStore::put(Node node, Nanoseconds now) {
  Dropped dropped;
  std::lock_guard lock(mutex_);
  ByUse& by_use = by_tenant_[node.tenant];
  // The rule of NodeBudget, for their number.
  const size_t others = nodes_.size() - by_use.size();
  const size_t room = others >= plan_.most ? 0 : (plan_.most - others) / 2;
  if (room == 0) return "";
  if (by_use.size() >= room) drop_lost(dropped);
  while (by_use.size() >= room) drop(nodes_.find(by_use.front()), Why::kRoom, dropped);
  node.id = new_id();
  const std::string id = node.id;
  by_use.push_back(id);
  nodes_.emplace(id,
                 Kept{std::make_shared<const Node>(std::move(node)), now, std::prev(by_use.end())});
  return id;
}

Result<std::shared_ptr<const Node>> NodeStore::find(const std::string& id,
                                                    const std::string& tenant, Nanoseconds now) {
  Dropped dropped;
  std::lock_guard lock(mutex_);
  drop_if_lost(id, dropped);
  const auto found = nodes_.find(id);
  if (found != nodes_.end() && found->second.node->tenant == tenant) {
    ByUse& by_use = by_tenant_[tenant];
    by_use.splice(by_use.end(), by_use, found->second.place);
    found->second.used = now;
    return found->second.node;
  }
  const auto gone = gone_.find(id);
  if (gone == gone_.end() || gone->second.tenant != tenant)
    return sys::Error::because("\"" + id + "\" is no node of a session here");
  switch (gone->second.why) {
    case Why::kRoom:
      return sys::Error::because("node \"" + id + "\" is gone: its memory was needed for others");
    case Why::kIdle:
      return sys::Error::because("node \"" + id + "\" is gone: nobody has used it for too long");
    case Why::kProcess:
      return sys::Error::because("node \"" + id +
                                 "\" is gone: the process that it was forked from has ended");
    case Why::kAsked:
      break;
  }
  return sys::Error::because("node \"" + id + "\" is gone: its session has ended");
}

std::string NodeStore::why_gone(const std::string& id, const std::string& tenant) {
  Dropped dropped;
  {
    std::lock_guard lock(mutex_);
    drop_if_lost(id, dropped);
    const auto found = nodes_.find(id);
    if (found != nodes_.end() && found->second.node->tenant == tenant) return "";
  }
  // No id is used again, so it is not there now, either.
  return find(id, tenant, {}).error().text();
}

bool NodeStore::forget(const std::string& id, const std::string& tenant) {
  Dropped dropped;
  std::lock_guard lock(mutex_);
  const auto found = nodes_.find(id);
  if (found == nodes_.end() || found->second.node->tenant != tenant) return false;
  drop(found, Why::kAsked, dropped);
  return true;
}

void NodeStore::forget_idle(Nanoseconds now) {
  Dropped dropped;
  std::lock_guard lock(mutex_);
  drop_lost(dropped);
  for (auto& [tenant, by_use] : by_tenant_) {
    while (!by_use.empty()) {
      const auto oldest = nodes_.find(by_use.front());
      if (now - oldest->second.used < plan_.idle) break;
      drop(oldest, Why::kIdle, dropped);
    }
  }
  std::erase_if(by_tenant_, [](const auto& each) { return each.second.empty(); });
}

// The process that it was forked from has ended.
void NodeStore::drop_if_lost(const std::string& id, Dropped& dropped) {
  const auto found = nodes_.find(id);
  if (found != nodes_.end() && found->second.node->of->is_over())
    drop(found, Why::kProcess, dropped);
}

void NodeStore::drop_lost(Dropped& dropped) {
  for (auto each = nodes_.begin(); each != nodes_.end();) {
    const auto found = each++;
    if (found->second.node->of->is_over()) drop(found, Why::kProcess, dropped);
  }
}

// Whoever runs at it has it still.
void NodeStore::drop(Found found, Why why, Dropped& dropped) {
  const std::shared_ptr<const Node>& node = dropped.emplace_back(found->second.node);
  by_tenant_[node->tenant].erase(found->second.place);
  nodes_.erase(found);
  if (why != Why::kAsked) ++dropped_;
  if (gone_.size() >= kMostGone) {
    gone_.erase(gone_order_.front());
    gone_order_.pop_front();
  }
  gone_.emplace(node->id, Gone{node->tenant, why});
  gone_order_.push_back(node->id);
}

NodeStore::Counts NodeStore::counts() const {
  std::lock_guard lock(mutex_);
  return {nodes_.size(), budget_->used(), dropped_};
}

}  // namespace runtime
