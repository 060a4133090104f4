#include "shim/wipe.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace shim {

namespace {

// The kernel's record of getdents64(2): inode, offset, length, type, name.
constexpr size_t kLengthAt = 16;
constexpr size_t kNameAt = 19;

// Calls `visit(name)` for every entry until it answers false. The directory may change meanwhile;
// callers go round again until nothing is left to do.
template <typename Visit>
void for_each_entry(int directory, Visit visit) {
  alignas(8) char buffer[4096];
  ::lseek(directory, 0, SEEK_SET);
  long size;
  while ((size = ::syscall(SYS_getdents64, directory, buffer, sizeof buffer)) > 0) {
    for (long at = 0; at < size;) {
      const char* name = buffer + at + kNameAt;
      at += *reinterpret_cast<uint16_t*>(buffer + at + kLengthAt);
      if (name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0))) continue;
      if (!visit(name)) return;
    }
  }
}

bool remove_entry(int directory, const char* name) {
  return ::unlinkat(directory, name, 0) == 0 || ::unlinkat(directory, name, AT_REMOVEDIR) == 0;
}

// Removes all that can be removed at once; then the first directory that is not empty, opened, or
// -1.
int remove_leaves(int directory) {
  for (bool removed = true; removed;) {
    removed = false;
    int child = -1;
    for_each_entry(directory, [&](const char* name) {
      if (remove_entry(directory, name)) {
        removed = true;
        return true;
      }
      child = ::openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      return false;
    });
    if (child >= 0) return child;
  }
  return -1;
}

}  // namespace

// Depth is bounded neither by the stack nor by descriptors: what a child holds is moved up into the
// directory, which a rename within one file system can always do, until only leaves are left.
void wipe_directory(int directory) {
  constexpr unsigned kMostMoves = 1u
                                  << 20;  // far above any inode limit; then statfs tells the truth
  unsigned moves = 0;
  for (int child; moves < kMostMoves && (child = remove_leaves(directory)) >= 0; ++moves) {
    ::fchmod(child, 0700);
    for_each_entry(child, [&](const char* name) {
      if (remove_entry(child, name)) return true;
      char up[24];
      ::snprintf(up, sizeof up, ".wipe%x", moves);
      // A taken name only costs a number: the next one is tried in the next round.
      ::syscall(SYS_renameat2, child, name, directory, up, 1u /* RENAME_NOREPLACE */);
      return ++moves < kMostMoves;
    });
    ::close(child);
  }
}

}  // namespace shim
