#include "runtime/sessions/node_budget.h"

#include "sandbox/sys/result.h"

namespace runtime {

uint64_t NodeBudget::used_by_locked(const std::string& tenant) const {
  const auto found = by_tenant_.find(tenant);
  return found == by_tenant_.end() ? 0 : found->second;
}

uint64_t NodeBudget::room_locked(const std::string& tenant) const {
  const uint64_t others = used_ - used_by_locked(tenant);
  return others >= memory_ ? 0 : (memory_ - others) / 2;
}

uint64_t NodeBudget::room_for(const std::string& tenant) const {
  std::lock_guard lock(mutex_);
  return room_locked(tenant);
}

uint64_t NodeBudget::used_by(const std::string& tenant) const {
  std::lock_guard lock(mutex_);
  return used_by_locked(tenant);
}

uint64_t NodeBudget::used() const {
  std::lock_guard lock(mutex_);
  return used_;
}

NodeBudget::Hold NodeBudget::take(const std::string& tenant, uint64_t bytes) {
  struct Held {
    std::shared_ptr<NodeBudget> of;
    std::string tenant;
    uint64_t bytes;
    ~Held() { of->give_back(tenant, bytes); }
  };
  std::lock_guard lock(mutex_);
  const uint64_t used = used_by_locked(tenant);
  const uint64_t room = room_locked(tenant);
  if (used > room || bytes > room - used) return nullptr;
  used_ += bytes;
  by_tenant_[tenant] += bytes;
  return std::shared_ptr<const Held>(new Held{shared_from_this(), tenant, bytes});
}

void NodeBudget::give_back(const std::string& tenant, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  used_ -= bytes;
  const auto found = by_tenant_.find(tenant);
  VERIFY(found != by_tenant_.end() && found->second >= bytes);
  found->second -= bytes;
  if (found->second == 0) by_tenant_.erase(found);
}

}  // namespace runtime
