#include "runtime/scheduler/node_turns.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace runtime {

std::shared_ptr<NodeTurn> NodeTurns::begin(Task& task) {
  if (task.call) task.call->of_ = nullptr;
  task.call.reset();
  return begin(task.job.tenant);
}

std::shared_ptr<NodeTurn> NodeTurns::begin(const std::string& tenant) {
  std::lock_guard lock(mutex_);
  ++tenants_[tenant].under_way;
  ++under_way_;
  return std::make_shared<NodeTurn>(shared_from_this(), tenant, ended_);
}

NodeTurns::Fate NodeTurns::wait(TaskPtr& task) {
  std::lock_guard lock(mutex_);
  NodeTurn& turn = *task->turn;
  if (std::exchange(turn.ended_before_, ended_) != ended_) return Fate::kAgain;
  if (under_way_ < 2) return Fate::kNever;
  keep(task);
  return Fate::kWaits;
}

bool NodeTurns::is_alone(const Task& task) {
  std::lock_guard lock(mutex_);
  return tenants_[task.job.tenant].under_way < 2;
}

bool NodeTurns::gives_way(TaskPtr& task) {
  std::lock_guard lock(mutex_);
  if (tenants_[task->job.tenant].blocked == 0) return false;
  keep(task);
  return true;
}

// Its turn ends, which gives nothing back.
void NodeTurns::keep(TaskPtr& task) {
  Tenant& own = tenants_[task->job.tenant];
  --own.under_way;
  --under_way_;
  task->turn->of_ = nullptr;
  task->turn.reset();
  // A task that has been tried before is the oldest.
  auto place = own.waiting.end();
  while (place != own.waiting.begin() && (*std::prev(place))->accepted_at > task->accepted_at)
    --place;
  own.waiting.insert(place, std::move(task));
  changed_.notify_all();
}

// Memory that one tenant has given back may be another's.
void NodeTurns::end(const std::string& tenant) {
  std::lock_guard lock(mutex_);
  --tenants_[tenant].under_way;
  --under_way_;
  ++ended_;
  changed_.notify_all();
  for (auto& [name, each] : tenants_) give_back_first_of(name, each);
  std::erase_if(tenants_, [](const auto& each) {
    return each.second.under_way == 0 && each.second.waiting.empty();
  });
}

void NodeTurns::go_on(const std::string& tenant) {
  std::lock_guard lock(mutex_);
  const auto found = tenants_.find(tenant);
  if (found != tenants_.end()) give_back_first_of(found->first, found->second);
}

// Under the lock: whoever takes all that waits finds it here, or where it was given back to.
void NodeTurns::give_back_first_of(const std::string& name, Tenant& tenant) {
  if (tenant.waiting.empty() || tenant.blocked > 0) return;
  TaskPtr next = std::move(tenant.waiting.front());
  tenant.waiting.pop_front();
  next->call = std::make_shared<NodeCall>(shared_from_this(), name);
  returned_(std::move(next));
}

std::vector<TaskPtr> NodeTurns::take_if(const std::function<bool(const Task&)>& is_wanted) {
  std::vector<TaskPtr> taken;
  std::lock_guard lock(mutex_);
  for (auto& [name, tenant] : tenants_) {
    const auto wanted =
        std::stable_partition(tenant.waiting.begin(), tenant.waiting.end(),
                              [&](const TaskPtr& task) { return !is_wanted(*task); });
    std::move(wanted, tenant.waiting.end(), std::back_inserter(taken));
    tenant.waiting.erase(wanted, tenant.waiting.end());
  }
  return taken;
}

size_t NodeTurns::waiting() {
  std::lock_guard lock(mutex_);
  size_t count = 0;
  for (const auto& [name, tenant] : tenants_) count += tenant.waiting.size();
  return count;
}

std::vector<TaskPtr> NodeTurns::take_all() {
  return take_if([](const Task&) { return true; });
}

std::vector<TaskPtr> NodeTurns::take_withdrawn() {
  return take_if([](const Task& task) { return task.job.is_withdrawn(); });
}

NodeBudget::Hold NodeTurns::take(const std::string& tenant,
                                 const std::function<NodeBudget::Hold()>& room) {
  for (;;) {
    uint64_t seen = 0;
    {
      std::lock_guard lock(mutex_);
      seen = ended_;
    }
    if (NodeBudget::Hold hold = room()) return hold;
    if (!await_end(tenant, seen)) return nullptr;
  }
}

// False: none that may end is under way, or it takes too long.
bool NodeTurns::await_end(const std::string& tenant, uint64_t seen) {
  std::unique_lock lock(mutex_);
  Tenant& own = tenants_[tenant];
  ++own.blocked;
  const auto all_wait = [&own] { return own.blocked >= own.under_way; };
  changed_.wait_for(lock, patience_, [&] { return ended_ != seen || all_wait(); });
  --own.blocked;
  return ended_ != seen;
}

}  // namespace runtime
