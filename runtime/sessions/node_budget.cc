#include "runtime/sessions/node_budget.h"

#include "sandbox/sys/result.h"

namespace runtime {

namespace {

uint64_t half_of_rest(uint64_t all, uint64_t others) {
  return others >= all ? 0 : (all - others) / 2;
}

uint64_t beyond(uint64_t wanted, uint64_t room) { return wanted > room ? wanted - room : 0; }

}  // namespace

NodeBudget::Amount NodeBudget::used_by(const std::string& tenant) const {
  const auto found = by_tenant_.find(tenant);
  return found == by_tenant_.end() ? Amount{} : found->second;
}

NodeBudget::Amount NodeBudget::room_of(const std::string& tenant) const {
  const Amount own = used_by(tenant);
  return {half_of_rest(all_.bytes, used_.bytes - own.bytes),
          half_of_rest(all_.files, used_.files - own.files)};
}

std::optional<NodeBudget::Amount> NodeBudget::lacks(const std::string& tenant,
                                                    uint64_t bytes) const {
  const Amount own = used_by(tenant), room = room_of(tenant);
  if (bytes > room.bytes || room.files == 0) return std::nullopt;
  return Amount{beyond(own.bytes + bytes, room.bytes), beyond(own.files + 1, room.files)};
}

uint64_t NodeBudget::room_for(const std::string& tenant) const {
  std::lock_guard lock(mutex_);
  return room_of(tenant).bytes;
}

uint64_t NodeBudget::used() const {
  std::lock_guard lock(mutex_);
  return used_.bytes;
}

std::optional<NodeBudget::Amount> NodeBudget::lacking(const std::string& tenant,
                                                      uint64_t bytes) const {
  std::lock_guard lock(mutex_);
  return lacks(tenant, bytes);
}

NodeBudget::Hold NodeBudget::take(const std::string& tenant, uint64_t bytes) {
  struct Held {
    std::shared_ptr<NodeBudget> of;
    std::string tenant;
    uint64_t bytes;
    ~Held() { of->give_back(tenant, bytes); }
  };
  std::lock_guard lock(mutex_);
  if (lacks(tenant, bytes) != Amount{}) return nullptr;
  Amount& own = by_tenant_[tenant];
  for (Amount* each : {&used_, &own}) {
    each->bytes += bytes;
    ++each->files;
  }
  return std::shared_ptr<const Held>(new Held{shared_from_this(), tenant, bytes});
}

void NodeBudget::give_back(const std::string& tenant, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const auto found = by_tenant_.find(tenant);
  VERIFY(found != by_tenant_.end() && found->second.bytes >= bytes && found->second.files > 0);
  for (Amount* each : {&used_, &found->second}) {
    each->bytes -= bytes;
    --each->files;
  }
  if (found->second == Amount{}) by_tenant_.erase(found);
}

}  // namespace runtime
