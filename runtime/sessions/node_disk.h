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
  NodeBudget::Hold hold;  // of the room on the disk
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
  // Of so many bytes; null: there is no room.
  using Reserve = std::function<NodeBudget::Hold(uint64_t bytes)>;

  // An error: the folder is not there, or takes no such files.
  static sys::Result<std::unique_ptr<NodeDisk>> open(const std::string& folder);

  // What states share is on the disk once, and in memory once.
  sys::Result<std::shared_ptr<const StoredState>> write(const NodeState& state,
                                                        const Reserve& on_disk);
  sys::Result<std::shared_ptr<const NodeState>> read(const StoredState& state,
                                                     const Reserve& in_memory);

 private:
  explicit NodeDisk(sys::OwnedFd folder) : folder_(std::move(folder)) {}
  using Memory = std::shared_ptr<const NodeContents>;
  using Stored = std::shared_ptr<const StoredContents>;
  Stored twin_of(const Memory& contents);
  Memory twin_of(const Stored& contents);
  void pair(const Memory& in_memory, const Stored& on_disk);
  sys::Result<Stored> write(const NodeContents& contents, const Reserve& on_disk) const;

  const sys::OwnedFd folder_;
  std::mutex mutex_;  // of what contents know of each other
};

}  // namespace runtime
