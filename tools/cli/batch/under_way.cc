#include "tools/cli/batch/under_way.h"

namespace cli {

UnderWay::Watch UnderWay::add(const std::string& id) {
  auto watch = std::make_shared<runtime::JobWatch>();
  std::lock_guard lock(mutex_);
  watches_[id] = watch;
  return watch;
}

void UnderWay::remove(const std::string& id, const Watch& watch) {
  std::lock_guard lock(mutex_);
  const auto found = watches_.find(id);
  if (found != watches_.end() && found->second == watch) watches_.erase(found);
}

bool UnderWay::withdraw(const std::string& id) {
  std::lock_guard lock(mutex_);
  const auto found = watches_.find(id);
  if (found == watches_.end()) return false;
  found->second->withdrawn = true;
  return true;
}

}  // namespace cli
