#pragma once
// Takes another user's ids for file access, for one thread and one scope.

#include <sys/fsuid.h>

#include <cstdint>
#include <optional>

namespace sys {

// While it lives, this thread opens files, and passes the kernel's checks on /proc/PID, as `id`
// (setfsuid(2)): without CAP_SYS_PTRACE even root reads another user's memory only so. Nothing
// happens without an id. One at a time per thread.
class FileIdentity {
 public:
  explicit FileIdentity(std::optional<uint32_t> id) {
    if (!id) return;
    gid_ = ::setfsgid(*id);  // the group first: without root's file rights it cannot be changed
    uid_ = ::setfsuid(*id);
    changed_ = true;
  }
  FileIdentity(const FileIdentity&) = delete;
  FileIdentity& operator=(const FileIdentity&) = delete;
  ~FileIdentity() {
    if (!changed_) return;
    ::setfsuid(static_cast<uint32_t>(uid_));
    ::setfsgid(static_cast<uint32_t>(gid_));
  }

 private:
  bool changed_ = false;
  int uid_ = 0, gid_ = 0;
};

}  // namespace sys
