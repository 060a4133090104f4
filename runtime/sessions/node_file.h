#pragma once
// The file of a node (shim/state/format.h), built in two steps: what goes into it is told, which
// gives every content its place, and then the contents are written there.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"
#include "shim/state/format.h"

namespace runtime {

struct StoredContents;  // node_disk.h

// What one step has left: a sealed file. Later nodes may have pages of it, and then share it.
struct NodeContents {
  std::shared_ptr<const void> hold;  // of the memory (node_budget.h), until that is free
  sys::OwnedFd file;
  uint64_t bytes = 0;
  mutable std::weak_ptr<const StoredContents> on_disk = {};  // of NodeDisk
};

// Immutable, and shared by whoever restores it.
struct NodeState {
  std::vector<std::shared_ptr<const NodeContents>> files;  // its own first
  uint64_t bytes = 0;                                      // of its own
  uint64_t bytes_of_all() const;                           // of its files
};

// The memory that a process has of these pages and files. A file has whole pages, and the kernel's
// own of it and of its name.
sys::Bytes memory_of(const std::vector<shim::state::Run>& runs,
                     const std::vector<shim::state::Entry>& entries);

// A file in memory for one, to be written and then sealed: nothing changes it from there on.
sys::Result<sys::OwnedFd> new_node_file(uint64_t bytes);
sys::Result<void> seal_node_file(int file);

class NodeFile {
 public:
  shim::state::Header header;
  std::vector<shim::state::Area> areas;
  std::vector<shim::state::Run> runs;
  std::vector<shim::state::Entry> entries;
  std::vector<shim::state::Descriptor> descriptors;
  std::vector<std::shared_ptr<const NodeContents>> others;  // files of runs from 1 on
  shim::state::Name name(std::string_view text);

  std::vector<shim::state::Run> own_runs() const;
  // The number of bytes that its own file will have.
  uint64_t size() const;
  // False: the names are more than their table can have.
  bool has_room_for_names() const { return names_.size() <= kMostNames; }
  // Gives runs and entries the places of their contents, and makes the file with all but those.
  sys::Result<void> lay_out();
  // After lay_out(): bytes of the contents.
  sys::Result<void> write(uint64_t at, std::string_view bytes);
  // Nothing is written from here on.
  sys::Result<std::shared_ptr<const NodeState>> seal(std::shared_ptr<const void> hold);

 private:
  static constexpr size_t kMostNames = size_t{1} << 30;
  uint64_t size_of_tables() const;
  std::string names_;
  sys::OwnedFd file_;
  uint64_t bytes_ = 0;
};

}  // namespace runtime
