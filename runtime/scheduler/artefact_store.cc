#include "runtime/scheduler/artefact_store.h"

#include <utility>

namespace runtime {

namespace {

// An entry's own share, so that many small ones are bounded as well.
constexpr uint64_t kOverhead = 4096;

uint64_t size_of(const Built& built) {
  if (const auto* artefact = std::get_if<std::shared_ptr<const Artefact>>(&built))
    return (*artefact)->bytes + kOverhead;
  const JobResult& result = *std::get<std::shared_ptr<const JobResult>>(built);
  return result.out.bytes.size() + result.err.bytes.size() + kOverhead;
}

}  // namespace

ArtefactStore::Claim ArtefactStore::claim(const std::string& key, TaskPtr& task, Built& built,
                                          Patience patience) {
  std::lock_guard lock(mutex_);
  if (auto entry = entries_.find(key); entry != entries_.end()) {
    used_.splice(used_.begin(), used_, entry->second.used);
    built = entry->second.built;
    return Claim::kBuilt;
  }
  auto [waiting, first] = building_.try_emplace(key);
  if (first || patience == Patience::kCannotWait) return Claim::kBuild;
  waiting->second.push_back(std::move(task));
  return Claim::kWaiting;
}

std::vector<TaskPtr> ArtefactStore::settle(const std::string& key, const Built& built, bool keep) {
  std::lock_guard lock(mutex_);
  if (keep && !entries_.contains(key)) {
    used_.push_front(key);
    const uint64_t bytes = size_of(built);
    entries_.emplace(key, Entry{built, bytes, used_.begin()});
    bytes_ += bytes;
    trim();
  }
  return take_waiting(key);
}

std::vector<TaskPtr> ArtefactStore::give_up(const std::string& key) {
  std::lock_guard lock(mutex_);
  return take_waiting(key);
}

std::vector<TaskPtr> ArtefactStore::take_waiting(const std::string& key) {
  auto node = building_.extract(key);
  return node ? std::move(node.mapped()) : std::vector<TaskPtr>();
}

// An artefact that leaves lives on while somebody is using it.
void ArtefactStore::trim() {
  while (bytes_ > capacity_ && !used_.empty()) {
    auto oldest = entries_.find(used_.back());
    bytes_ -= oldest->second.bytes;
    entries_.erase(oldest);
    used_.pop_back();
  }
}

}  // namespace runtime
