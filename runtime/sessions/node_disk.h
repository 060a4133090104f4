#pragma once
// NodeDisk: contents of nodes that memory has no room for, compressed (zstd), in files of a folder
// that have no name: nobody finds them there, and they go with this process. Thread-safe; writing
// and reading take as long as the contents are large.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/sessions/node_budget.h"
#include "runtime/sessions/node_file.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

namespace runtime {

struct StoredContents {
  std::vector<NodeBudget::Hold> holds;  // of the room on the disk
  sys::OwnedFd file;
  uint64_t bytes = 0;                                        // of the contents
  mutable std::weak_ptr<const NodeContents> in_memory = {};  // of NodeDisk
};

struct StoredState {
  std::vector<std::shared_ptr<const StoredContents>> files;  // as NodeState's
  uint64_t bytes = 0;
};

class NodeDisk {
 public:
  // Null, or empty: there is no room.
  using OnDisk = std::function<NodeBudget::Hold(NodeBudget::Amount wanted)>;
  using InMemory = std::function<std::vector<NodeBudget::Hold>(const std::vector<uint64_t>& files)>;

  // An error: the folder is not there, or takes no such files.
  static sys::Result<std::unique_ptr<NodeDisk>> open(const std::string& folder);

  // Contents that states share are on the disk once, and in memory once, unless two threads write,
  // or read, such states at the same time. Room on the disk is taken piece by piece, as nobody
  // knows how much it will be.
  sys::Result<std::shared_ptr<const StoredState>> write(const NodeState& state,
                                                        const OnDisk& on_disk);
  // Null: memory has no room for it.
  sys::Result<std::shared_ptr<const NodeState>> read(const StoredState& state,
                                                     const InMemory& in_memory);

 private:
  explicit NodeDisk(sys::OwnedFd folder) : folder_(std::move(folder)) {}
  using Memory = std::shared_ptr<const NodeContents>;
  using Stored = std::shared_ptr<const StoredContents>;
  Stored twin_of(const Memory& contents);
  Memory twin_of(const Stored& contents);
  void pair(const Memory& in_memory, const Stored& on_disk);
  sys::Result<Stored> write(const NodeContents& contents, const OnDisk& on_disk) const;
  sys::Result<Memory> read(const Stored& stored, NodeBudget::Hold hold);

  const sys::OwnedFd folder_;
  std::mutex mutex_;  // of what contents know of each other
};

}  // namespace runtime
