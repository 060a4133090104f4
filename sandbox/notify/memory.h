#pragma once
// Bounded reads of the memory and descriptors of a process that waits in a notified call. The
// data is hostile, and stale as soon as it is read; check the notification afterwards. Daemon
// side.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace sandbox {

// The process that waits; `pid` may be a thread's. Without CAP_SYS_PTRACE its memory can be read
// only with its own ids, and only while it is dumpable (ptrace(2), access mode checking): `id` is
// then what this thread takes for its file-system ids meanwhile.
struct Caller {
  int pid = 0;
  std::optional<uint32_t> id = {};
  // At most `size` bytes (up to PATH_MAX) at `address`; fewer where the memory ends; nothing if
  // there is none, or if we may not look.
  std::optional<std::string> bytes(uint64_t address, size_t size) const;
  // A path: up to the NUL, which must come within PATH_MAX.
  std::optional<std::string> path(uint64_t address) const;
  // The place to which a descriptor, or AT_FDCWD, points: the text of the link in /proc.
  std::optional<std::string> directory(int fd) const;
};

}  // namespace sandbox
