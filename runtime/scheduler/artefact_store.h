#pragma once
// ArtefactStore: a size-bounded store of artefacts with the least recently used leaving first,
// shared by all shards; whoever asks for what is being built waits for it instead of building it
// again. Thread-safe.

#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/builds/artefact.h"
#include "runtime/scheduler/task.h"
#include "sandbox/sys/units.h"

namespace runtime {

class ArtefactStore {
 public:
  explicit ArtefactStore(sys::Bytes capacity) : capacity_(capacity.count) {}

  enum class Claim : uint8_t {
    kBuilt,   // `built` is set
    kBuild,   // the caller builds it, and calls settle() whatever happens
    kWaiting  // `task` was taken; settle() gives it back
  };
  // A task that cannot wait builds its own beside the other.
  enum class Patience : uint8_t { kWaits, kCannotWait };
  Claim claim(const std::string& key, TaskPtr& task, Built& built,
              Patience patience = Patience::kWaits);

  // `keep`: the build would always end like this. Returns the tasks that have waited.
  std::vector<TaskPtr> settle(const std::string& key, const Built& built, bool keep);
  // The build has come to nothing, and that says nothing. Returns the tasks that have waited.
  std::vector<TaskPtr> give_up(const std::string& key);

 private:
  struct Entry {
    Built built;
    uint64_t bytes = 0;
    std::list<std::string>::iterator used;
  };
  std::vector<TaskPtr> take_waiting(const std::string& key);
  void trim();

  const uint64_t capacity_;
  std::mutex mutex_;
  std::map<std::string, Entry> entries_;
  std::list<std::string> used_;  // most recently first
  uint64_t bytes_ = 0;
  std::map<std::string, std::vector<TaskPtr>> building_;
};

}  // namespace runtime
