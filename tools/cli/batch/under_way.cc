#include "tools/cli/batch/under_way.h"

namespace cli {

UnderWay::Watch UnderWay::add(const std::string& id) {
  auto watch = std::make_shared<runtime::JobWatch>();
  std::lock_guard lock(mutex_);
  last_[id] = watch;
  all_.insert(watch);
  return watch;
}

void UnderWay::remove(const std::string& id, const Watch& watch) {
  std::lock_guard lock(mutex_);
  all_.erase(watch);
  const auto found = last_.find(id);
  if (found != last_.end() && found->second == watch) last_.erase(found);
}

bool UnderWay::withdraw(const std::string& id) {
  std::lock_guard lock(mutex_);
  const auto found = last_.find(id);
  if (found == last_.end()) return false;
  found->second->withdrawn = true;
  return true;
}

void UnderWay::withdraw_all() {
  std::lock_guard lock(mutex_);
  for (const Watch& watch : all_) watch->withdrawn = true;
}

}  // namespace cli
