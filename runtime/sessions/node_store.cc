#include "runtime/sessions/node_store.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <utility>

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

struct Afterwards {
  const std::function<void()>& then;
  ~Afterwards() {
    if (then) then();
  }
};

}  // namespace

NodeStore::NodeStore(NodesPlan plan)
    : plan_(std::move(plan)),
      budget_(std::make_shared<NodeBudget>(NodeBudget::Amount{plan_.memory.count, plan_.most})),
      disk_budget_(
          std::make_shared<NodeBudget>(NodeBudget::Amount{plan_.on_disk.count, plan_.most})) {}

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
    if (kept.stored || kept.node.use_count() > 1) continue;
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
  std::vector<std::shared_ptr<const Node>> aside;
  {
    std::lock_guard lock(mutex_);
    drop_lost(dropped);
    const auto lacking = budget_->lacking(tenant, bytes);
    const auto own = by_tenant_.find(tenant);
    if (!lacking || own == by_tenant_.end()) return !dropped.empty();
    for (const std::string& id : spare_nodes(own->second, *lacking)) {
      if (plan_.disk)
        aside.push_back(nodes_.at(id).node);  // who is had by somebody is not chosen again
      else
        drop(nodes_.find(id), Why::kRoom, dropped);
    }
  }
  const bool has_made_some = !dropped.empty() || !aside.empty();
  for (auto& node : aside) put_aside(std::move(node));
  return has_made_some;
}

// To the disk, without the lock; where that has no room either, it goes. Who has taken it up
// meanwhile keeps it in memory.
void NodeStore::put_aside(std::shared_ptr<const Node> node) {
  const auto reserve = [&](uint64_t bytes) { return reserve_on_disk(node->tenant, bytes); };
  auto stored = plan_.disk->write(*node->state, reserve);
  Dropped dropped;
  std::lock_guard lock(mutex_);
  const auto found = nodes_.find(node->id);
  constexpr long kOursAndIts = 2;
  if (found == nodes_.end() || node.use_count() > kOursAndIts) return;
  if (!stored) return drop(found, Why::kRoom, dropped);
  Node bare = *node;
  bare.state = nullptr;
  dropped.push_back(std::exchange(found->second.node, std::make_shared<const Node>(bare)));
  found->second.stored = std::move(stored).value();
  ++on_disk_;
}

NodeBudget::Hold NodeStore::reserve_on_disk(const std::string& tenant, uint64_t bytes) {
  for (;;) {
    if (NodeBudget::Hold hold = disk_budget_->take(tenant, bytes)) return hold;
    if (!disk_budget_->lacking(tenant, bytes) || !make_room_on_disk(tenant)) return nullptr;
  }
}

// Of a tenant's nodes on the disk the one that nobody used for the longest time goes. False: there
// is none.
bool NodeStore::make_room_on_disk(const std::string& tenant) {
  Dropped dropped;
  std::lock_guard lock(mutex_);
  for (const std::string& id : by_tenant_[tenant]) {
    const auto found = nodes_.find(id);
    const auto& stored = found->second.stored;
    if (!stored || stored.use_count() > 1) continue;  // or it is being read
    drop(found, Why::kRoom, dropped);
    return true;
  }
  return false;
}

Result<std::shared_ptr<const Node>> NodeStore::load(const std::string& id,
                                                    const std::string& tenant, Nanoseconds now) {
  for (;;) {
    std::shared_ptr<const Node> node = TRY(find(id, tenant, now));
    if (node->state) return node;
    const std::shared_ptr<const StoredState> stored = stored_of(id);
    if (!stored) continue;  // somebody was faster
    bool lacks_room = false;
    auto state = plan_.disk->read(*stored, [&](uint64_t bytes) {
      NodeBudget::Hold hold = reserve(tenant, bytes);
      lacks_room = !hold;
      return hold;
    });
    if (lacks_room) return std::shared_ptr<const Node>();
    if (!state)
      return sys::Error::because("node \"" + id +
                                 "\" is on the disk, and cannot be read: " + state.error().text());
    Node whole = *node;
    whole.state = std::move(state).value();
    if (auto taken = take_back(std::move(whole))) return taken;
  }
}

std::shared_ptr<const StoredState> NodeStore::stored_of(const std::string& id) const {
  std::lock_guard lock(mutex_);
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? nullptr : found->second.stored;
}

// Null: it has gone meanwhile, or is in memory already.
std::shared_ptr<const Node> NodeStore::take_back(Node node) {
  Dropped dropped;
  std::lock_guard lock(mutex_);
  const auto found = nodes_.find(node.id);
  if (found == nodes_.end() || !found->second.stored) return nullptr;
  found->second.node = std::make_shared<const Node>(std::move(node));
  dropped.push_back(std::exchange(found->second.stored, nullptr));
  --on_disk_;
  return handed_out(found->second.node);
}

// Whoever gives it back makes room, perhaps.
std::shared_ptr<const Node> NodeStore::handed_out(std::shared_ptr<const Node> node) const {
  struct Use {
    std::shared_ptr<const Node> node;
    std::function<void()> freed;
    ~Use() {
      node.reset();
      freed();
    }
  };
  if (!plan_.freed || !node->state) return node;
  const Node* of = node.get();
  return {std::shared_ptr<Use>(new Use{std::move(node), plan_.freed}), of};
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
  nodes_.emplace(id, Kept{std::make_shared<const Node>(std::move(node)), nullptr, now,
                          std::prev(by_use.end())});
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
    return handed_out(found->second.node);
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
  const Afterwards freed{plan_.freed};
  Dropped dropped;
  std::lock_guard lock(mutex_);
  const auto found = nodes_.find(id);
  if (found == nodes_.end() || found->second.node->tenant != tenant) return false;
  drop(found, Why::kAsked, dropped);
  return true;
}

void NodeStore::forget_idle(Nanoseconds now) {
  const Afterwards freed{plan_.freed};
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
  const std::shared_ptr<const Node> node = found->second.node;
  dropped.push_back(node);
  if (found->second.stored) {
    dropped.push_back(found->second.stored);
    --on_disk_;
  }
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
  return {nodes_.size(), budget_->used(), dropped_, on_disk_, disk_budget_->used()};
}

}  // namespace runtime
