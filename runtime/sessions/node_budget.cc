#include "runtime/sessions/node_budget.h"

#include <numeric>

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
                                                    Amount wanted) const {
  const Amount own = used_by(tenant), room = room_of(tenant);
  if (wanted.bytes > room.bytes || wanted.files > room.files) return std::nullopt;
  return Amount{beyond(own.bytes + wanted.bytes, room.bytes),
                beyond(own.files + wanted.files, room.files)};
}

uint64_t NodeBudget::room_for(const std::string& tenant) const {
  std::lock_guard lock(mutex_);
  return room_of(tenant).bytes;
}

uint64_t NodeBudget::used() const {
  std::lock_guard lock(mutex_);
  return used_.bytes;
}

uint64_t NodeBudget::used_by_tenant(const std::string& tenant) const {
  std::lock_guard lock(mutex_);
  return used_by(tenant).bytes;
}

std::optional<NodeBudget::Amount> NodeBudget::lacking_of_others(const std::string& tenant,
                                                                Amount wanted) const {
  std::lock_guard lock(mutex_);
  const Amount own = used_by(tenant);
  if (wanted.bytes > all_.bytes / 2 || wanted.files > all_.files / 2) return std::nullopt;
  return Amount{beyond(used_.bytes - own.bytes, all_.bytes - 2 * wanted.bytes),
                beyond(used_.files - own.files, all_.files - 2 * wanted.files)};
}

std::optional<NodeBudget::Amount> NodeBudget::lacking(const std::string& tenant,
                                                      Amount wanted) const {
  std::lock_guard lock(mutex_);
  return lacks(tenant, wanted);
}

NodeBudget::Hold NodeBudget::take(const std::string& tenant, Amount wanted) {
  std::lock_guard lock(mutex_);
  return lacks(tenant, wanted) == Amount{} ? hand_out(tenant, wanted) : nullptr;
}

std::vector<NodeBudget::Hold> NodeBudget::take_each(const std::string& tenant,
                                                    const std::vector<uint64_t>& files) {
  const Amount all{std::accumulate(files.begin(), files.end(), uint64_t{0}), files.size()};
  std::vector<Hold> holds;
  std::lock_guard lock(mutex_);
  if (lacks(tenant, all) != Amount{}) return holds;
  for (const uint64_t bytes : files) holds.push_back(hand_out(tenant, {bytes, 1}));
  return holds;
}

NodeBudget::Hold NodeBudget::hand_out(const std::string& tenant, Amount taken) {
  struct Held {
    std::shared_ptr<NodeBudget> of;
    std::string tenant;
    Amount taken;
    ~Held() { of->give_back(tenant, taken); }
  };
  Amount& own = by_tenant_[tenant];
  for (Amount* each : {&used_, &own}) {
    each->bytes += taken.bytes;
    each->files += taken.files;
  }
  return std::shared_ptr<const Held>(new Held{shared_from_this(), tenant, taken});
}

void NodeBudget::give_back(const std::string& tenant, Amount taken) {
  std::lock_guard lock(mutex_);
  const auto found = by_tenant_.find(tenant);
  VERIFY(found != by_tenant_.end() && found->second.bytes >= taken.bytes &&
         found->second.files >= taken.files);
  for (Amount* each : {&used_, &found->second}) {
    each->bytes -= taken.bytes;
    each->files -= taken.files;
  }
  if (found->second == Amount{}) by_tenant_.erase(found);
}

}  // namespace runtime
