#include "runtime/sessions/node_store.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
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

}  // namespace

NodeStore::NodeStore(NodesPlan plan)
    : plan_(std::move(plan)),
      budget_(std::make_shared<NodeBudget>(NodeBudget::Amount{plan_.memory.count, plan_.most})),
      disk_budget_(
          std::make_shared<NodeBudget>(NodeBudget::Amount{plan_.on_disk.count, plan_.most})) {}

// A step that only waits to go on from it finds it on the disk as well.
bool NodeStore::is_in_use(const Kept& kept) const {
  return kept.node->state.use_count() > 1 || (!plan_.disk && kept.node.use_count() > 1);
}

// The oldest in memory that nobody uses and that free so much together; none if all do not. What
// several have is free when the last of them has gone, so that one may free nothing: that stays.
std::vector<NodeStore::Found> NodeStore::spare_nodes(const ByUse& by_use,
                                                     NodeBudget::Amount wanted) {
  std::vector<Found> passed;
  NodeBudget::Amount found;
  std::unordered_map<const NodeContents*, long> others;  // who have it, too
  const auto is_enough = [&] { return found.bytes >= wanted.bytes && found.files >= wanted.files; };
  for (auto id = by_use.begin(); !is_enough() && id != by_use.end(); ++id) {
    const Found kept = nodes_.find(*id);
    if (!kept->second.node->state || is_in_use(kept->second)) continue;
    for (const auto& file : kept->second.node->state->files) {
      const auto left = others.try_emplace(file.get(), file.use_count()).first;
      if (--left->second > 0) continue;
      found.bytes += file->bytes;
      ++found.files;
    }
    passed.push_back(kept);
  }
  if (!is_enough()) return {};
  std::erase_if(passed, [&](const Found& each) {
    const auto& files = each->second.node->state->files;
    return std::none_of(files.begin(), files.end(),
                        [&](const auto& file) { return others.at(file.get()) == 0; });
  });
  return passed;
}

uint64_t NodeStore::room_for(const std::string& tenant) const {
  // The nodes of others may go to the disk.
  return plan_.disk ? plan_.memory.count / 2 : budget_->room_for(tenant);
}

NodeBudget::Hold NodeStore::reserve(const std::string& tenant, uint64_t bytes) {
  if (NodeBudget::Hold hold = budget_->take(tenant, {bytes, 1})) return hold;
  const std::shared_ptr<std::mutex> moves = moves_of(tenant);
  std::lock_guard moving(*moves);
  std::vector<NodeBudget::Hold> holds = take(tenant, {bytes});
  return holds.empty() ? nullptr : std::move(holds.front());
}

std::shared_ptr<std::mutex> NodeStore::moves_of(const std::string& tenant) {
  std::lock_guard lock(mutex_);
  return tenants_[tenant].moves;
}

// A hold of each file, or none at all. Nobody else moves states of the tenant.
std::vector<NodeBudget::Hold> NodeStore::take(const std::string& tenant,
                                              const std::vector<uint64_t>& files) {
  const NodeBudget::Amount all{std::accumulate(files.begin(), files.end(), uint64_t{0}),
                               files.size()};
  for (;;) {
    std::vector<NodeBudget::Hold> holds = budget_->take_each(tenant, files);
    if (!holds.empty()) return holds;
    // Others may take what one has given up. Who drops nothing finds what others have given back.
    if (!make_room(tenant, all)) return budget_->take_each(tenant, files);
  }
}

// False: there is nothing to give up for it.
bool NodeStore::make_room(const std::string& tenant, NodeBudget::Amount wanted) {
  Dropped dropped;
  std::vector<std::shared_ptr<Record>> aside;
  {
    std::lock_guard lock(mutex_);
    drop_lost(dropped);
    const auto lacking = budget_->lacking(tenant, wanted);
    for (const Found& found :
         lacking ? spare_nodes(tenants_[tenant].by_use, *lacking) : std::vector<Found>()) {
      if (plan_.disk)
        aside.push_back(found->second.node);
      else
        drop(found, Why::kRoom, dropped);
    }
  }
  bool has_made_some = !dropped.empty();
  for (const auto& record : aside)
    has_made_some = put_aside(record, Cost::kOthersGo) || has_made_some;
  return has_made_some || make_room_of_others(tenant, wanted);
}

// Where a tenant could not have a single node for what others have in memory, one of theirs that
// nobody uses goes to the disk. None is lost by that.
bool NodeStore::make_room_of_others(const std::string& tenant, NodeBudget::Amount wanted) {
  const auto lacking = budget_->lacking_of_others(tenant, wanted);
  if (!plan_.disk || !lacking || *lacking == NodeBudget::Amount{}) return false;
  const std::vector<std::string> others = others_by_memory(tenant);
  return std::any_of(others.begin(), others.end(),
                     [this](const std::string& other) { return put_oldest_aside(other); });
}

// The tenant with most memory comes first.
std::vector<std::string> NodeStore::others_by_memory(const std::string& tenant) {
  std::vector<std::pair<uint64_t, std::string>> others;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [name, each] : tenants_)
      if (name != tenant) others.emplace_back(budget_->used_by_tenant(name), name);
  }
  std::sort(others.begin(), others.end(), std::greater<>());
  std::vector<std::string> names;
  for (auto& [bytes, name] : others) names.push_back(std::move(name));
  return names;
}

bool NodeStore::put_oldest_aside(const std::string& tenant) {
  const std::shared_ptr<std::mutex> moves = moves_of(tenant);
  std::unique_lock moving(*moves, std::try_to_lock);  // two tenants may want each other's
  if (!moving) return false;
  std::vector<std::shared_ptr<Record>> spare;
  {
    std::lock_guard lock(mutex_);
    for (const std::string& id : tenants_[tenant].by_use) {
      const Kept& kept = nodes_.at(id);
      if (kept.node->state && !is_in_use(kept)) spare.push_back(kept.node);
    }
  }
  return std::any_of(spare.begin(), spare.end(),
                     [this](const auto& each) { return put_aside(each, Cost::kNothing); });
}

// To the disk; where that has no room either, the node goes, unless it may cost nothing. False: it
// stays in memory.
bool NodeStore::put_aside(const std::shared_ptr<Record>& record, Cost cost) {
  std::shared_ptr<const NodeState> state = state_of(*record);
  if (!state) return false;
  uint64_t bytes = 0;
  for (const auto& file : state->files) bytes += file->bytes;
  // A node that may never have room there makes none for itself.
  const Cost at_most = bytes > disk_budget_->room_for(record->tenant) ? Cost::kNothing : cost;
  const auto room = [&](NodeBudget::Amount wanted) {
    return take_on_disk(record->tenant, wanted, at_most);
  };
  auto stored = plan_.disk->write(*state, room);
  Dropped dropped;
  std::lock_guard lock(mutex_);
  if (!record->is_kept) return true;  // it has gone meanwhile
  constexpr long kOursAndItsOwn = 2;
  dropped.push_back(std::move(state));
  if (record->state.use_count() > kOursAndItsOwn) return false;
  if (!stored) {
    // A step that waits to go on from it has it still, so dropping it makes no room.
    const bool stays = record.use_count() > kOursAndItsOwn || cost == Cost::kNothing;
    if (!stays) drop(nodes_.find(record->id), Why::kRoom, dropped);
    return !stays;
  }
  dropped.push_back(std::exchange(record->state, nullptr));
  record->stored = std::move(stored).value();
  ++on_disk_;
  return true;
}

NodeBudget::Hold NodeStore::take_on_disk(const std::string& tenant, NodeBudget::Amount wanted,
                                         Cost cost) {
  for (;;) {
    if (NodeBudget::Hold hold = disk_budget_->take(tenant, wanted)) return hold;
    if (!disk_budget_->lacking(tenant, wanted) || !make_room_on_disk(tenant, cost)) return nullptr;
  }
}

// The copy of a node that has come back to memory is given up first, and then the node that nobody
// used for the longest time. False: there is nothing to give up.
bool NodeStore::make_room_on_disk(const std::string& tenant, Cost cost) {
  Dropped dropped;
  std::lock_guard lock(mutex_);
  const ByUse& by_use = tenants_[tenant].by_use;
  for (const std::string& id : by_use) {
    Record& record = *nodes_.at(id).node;
    if (!record.stored || !record.state) continue;
    dropped.push_back(std::exchange(record.stored, nullptr));
    return true;
  }
  if (cost == Cost::kNothing) return false;
  for (const std::string& id : by_use) {
    const Found found = nodes_.find(id);
    if (found->second.node->state || found->second.node.use_count() > 1) continue;
    drop(found, Why::kRoom, dropped);
    return true;
  }
  return false;
}

std::shared_ptr<const NodeState> NodeStore::state_of(const Node& node) const {
  std::lock_guard lock(mutex_);
  return static_cast<const Record&>(node).state;
}

Result<std::shared_ptr<const NodeState>> NodeStore::load(const Node& node, bool leaves_room) {
  const auto& record = static_cast<const Record&>(node);
  const std::shared_ptr<std::mutex> moves = moves_of(node.tenant);
  std::lock_guard moving(*moves);
  if (auto state = state_of(record)) return state;  // somebody was faster
  // Only who moves states changes it.
  auto read = plan_.disk->read(*record.stored, [&](std::vector<uint64_t> files) {
    const size_t count = files.size();
    if (leaves_room) files.push_back(record.stored->files.front()->bytes);
    std::vector<NodeBudget::Hold> holds = take(node.tenant, files);
    holds.resize(std::min(holds.size(), count));
    return holds;
  });
  Dropped dropped;
  std::lock_guard lock(mutex_);
  if (!read) {
    if (record.is_kept) drop(nodes_.find(record.id), Why::kUnreadable, dropped);
    return sys::Error::because("node \"" + record.id + "\" is gone: " + read.error().text());
  }
  if (!*read || !record.is_kept) return read;
  record.state = *read;
  --on_disk_;
  return read;
}

std::string NodeStore::put(Node node, std::shared_ptr<const NodeState> state, Nanoseconds now) {
  Dropped dropped;
  std::lock_guard lock(mutex_);
  ByUse& by_use = tenants_[node.tenant].by_use;
  // The rule of NodeBudget, for their number.
  const size_t others = nodes_.size() - by_use.size();
  const size_t room = others >= plan_.most ? 0 : (plan_.most - others) / 2;
  if (room == 0) return "";
  if (by_use.size() >= room) drop_lost(dropped);
  while (by_use.size() >= room) drop(nodes_.find(by_use.front()), Why::kRoom, dropped);
  node.id = new_id();
  const std::string id = node.id;
  by_use.push_back(id);
  ++nodes_of_[node.of.get()];
  auto record = std::make_shared<Record>(std::move(node));
  record->state = std::move(state);
  nodes_.emplace(id, Kept{std::move(record), now, std::prev(by_use.end())});
  return id;
}

Result<std::shared_ptr<const Node>> NodeStore::find(const std::string& id,
                                                    const std::string& tenant, Nanoseconds now) {
  Dropped dropped;
  std::lock_guard lock(mutex_);
  drop_if_lost(id, dropped);
  const auto found = nodes_.find(id);
  if (found != nodes_.end() && found->second.node->tenant == tenant) {
    ByUse& by_use = tenants_[tenant].by_use;
    by_use.splice(by_use.end(), by_use, found->second.place);
    found->second.used = now;
    return std::shared_ptr<const Node>(found->second.node);
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
    case Why::kUnreadable:
      return sys::Error::because("node \"" + id + "\" is gone: the disk has not kept it");
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
  for (auto& [name, tenant] : tenants_) {
    while (!tenant.by_use.empty()) {
      const auto oldest = nodes_.find(tenant.by_use.front());
      if (now - oldest->second.used < plan_.idle) break;
      drop(oldest, Why::kIdle, dropped);
    }
  }
  std::erase_if(tenants_, [](const auto& each) {
    return each.second.by_use.empty() && each.second.moves.use_count() == 1;
  });
}

// The process that it was forked from has ended.
void NodeStore::drop_if_lost(const std::string& id, Dropped& dropped) {
  const auto found = nodes_.find(id);
  if (found != nodes_.end() && found->second.node->of->is_over())
    drop(found, Why::kProcess, dropped);
}

void NodeStore::drop_lost(Dropped& dropped) {
  const bool is_one_over = std::any_of(nodes_of_.begin(), nodes_of_.end(),
                                       [](const auto& each) { return each.first->is_over(); });
  if (!is_one_over) return;
  for (auto each = nodes_.begin(); each != nodes_.end();) {
    const auto found = each++;
    if (found->second.node->of->is_over()) drop(found, Why::kProcess, dropped);
  }
}

// Whoever runs at it has it still.
void NodeStore::drop(Found found, Why why, Dropped& dropped) {
  const std::shared_ptr<Record> node = found->second.node;
  dropped.push_back(node);
  node->is_kept = false;
  if (!node->state) --on_disk_;
  tenants_[node->tenant].by_use.erase(found->second.place);
  if (const auto of = nodes_of_.find(node->of.get()); --of->second == 0) nodes_of_.erase(of);
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
