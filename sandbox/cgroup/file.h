#pragma once
// Two owners used by cgroup.h: a control file kept open, and a group's directory. Daemon only.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

namespace sandbox {

// A control file. Reading and writing is one system call, without allocation.
class ControlFile {
 public:
  ControlFile() = default;
  static sys::Result<ControlFile> open(const std::string& directory, const char* name, int flags);
  // Empty when the kernel has no such file or we may not open it.
  static ControlFile open_if_any(const std::string& directory, const char* name, int flags);

  explicit operator bool() const { return static_cast<bool>(fd_); }
  std::optional<uint64_t> number() const;
  // The figure of the line "key figure".
  std::optional<uint64_t> field(std::string_view key) const;
  int write(uint64_t value) const;  // 0 or errno

 private:
  sys::OwnedFd fd_;
};

// The figure of the line "key figure" in a text such as memory.events. Pure.
std::optional<uint64_t> field_of(std::string_view text, std::string_view key);

// The treatment of processes that are still in a group when it is removed. Killing needs v2 and
// Linux 5.14 (cgroup.kill); it reaches the groups below too.
enum class Leftovers : uint8_t { kSpared, kKilled };

// Sole owner of one group's directory, which the destructor removes with the empty groups below it:
// at most 20 ms of waiting for exiting processes, or two seconds for one that was claimed, of which
// nobody else may be left. A process forked from the owner removes nothing.
class GroupDirectory {
 public:
  static sys::Result<GroupDirectory> create(std::string path, Leftovers leftovers);
  // Makes the directory, or takes over one that is there, and keeps it locked while this object
  // lives. EWOULDBLOCK: somebody else has it. All who see the directory see the lock, whatever
  // namespaces they are in; a number of a process says nothing beyond its own.
  static sys::Result<GroupDirectory> claim(std::string path, Leftovers leftovers);
  static GroupDirectory adopt(std::string path, Leftovers leftovers);
  GroupDirectory(GroupDirectory&& other) noexcept
      : path_(std::exchange(other.path_, {})),
        leftovers_(other.leftovers_),
        owner_(other.owner_),
        lock_(std::move(other.lock_)) {}
  GroupDirectory& operator=(GroupDirectory&& other) noexcept;
  GroupDirectory(const GroupDirectory&) = delete;
  GroupDirectory& operator=(const GroupDirectory&) = delete;
  ~GroupDirectory();

  const std::string& path() const { return path_; }
  sys::Result<void> remove();

 private:
  GroupDirectory(std::string path, Leftovers leftovers);
  std::string path_;
  Leftovers leftovers_ = Leftovers::kSpared;
  pid_t owner_ = 0;
  sys::OwnedFd lock_;
};

// Removes a group and the groups below it; stops at the first that holds processes.
sys::Result<void> remove_group_tree(const std::string& path);

// The same, unless somebody has claimed the group. Nobody can claim it meanwhile.
sys::Result<void> remove_unclaimed(const std::string& path);

}  // namespace sandbox
