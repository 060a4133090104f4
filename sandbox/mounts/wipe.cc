#include "sandbox/mounts/wipe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace sandbox {

namespace {

// The kernel's record of getdents64(2): inode, offset, length, type, name.
constexpr size_t kLengthAt = 16;
constexpr size_t kNameAt = 19;
constexpr uint64_t kBlock = 512;  // of st_blocks, always

// The buffer into which the kernel writes names. The process that wipes forks the next job, which
// finds on its stack what was left there.
struct Names {
  alignas(8) char bytes[4096];
  ~Names() {
    ::memset(bytes, 0, sizeof bytes);
    __asm__ volatile("" : : "r"(bytes) : "memory");  // or the compiler would leave it out
  }
};

// Calls `visit(name)` for every entry until it answers false. The directory may change meanwhile;
// callers go round again until nothing is left to do.
template <typename Visit>
void for_each_entry(int directory, Visit visit) {
  Names names;
  char* const buffer = names.bytes;
  ::lseek(directory, 0, SEEK_SET);
  long size;
  while ((size = ::syscall(SYS_getdents64, directory, buffer, sizeof names.bytes)) > 0) {
    for (long at = 0; at < size;) {
      const char* name = buffer + at + kNameAt;
      at += *reinterpret_cast<uint16_t*>(buffer + at + kLengthAt);
      if (name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0))) continue;
      if (!visit(name)) return;
    }
  }
}

// A directory of the job's may forbid its owner to look in; its name is no link, or the error would
// be another.
int open_directory(int parent, const char* name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int fd = ::openat(parent, name, kFlags);
  if (fd >= 0 || errno != EACCES) return fd;
  ::fchmodat(parent, name, 0700, 0);
  return ::openat(parent, name, kFlags);
}

class Wiper {
 public:
  const Contents& seen() const { return seen_; }

  // Depth is bounded neither by the stack nor by descriptors: what a child holds is moved up into
  // the directory, which a rename within one file system can always do, until only leaves are left.
  void empty(int directory) {
    for (int child; moves_ < kMostMoves && (child = remove_leaves(directory)) >= 0; ++moves_) {
      ::fchmod(child, 0700);
      stuck_ = true;
      for_each_entry(child,
                     [&](const char* name) { return remove_or_move(child, name, directory); });
      ::close(child);
      // A name that may be neither removed nor moved (in a sticky directory of another owner) stays
      // so, however often it is tried; the caller's proof fails.
      if (stuck_) return;
    }
  }

 private:
  // Far above any inode limit; after that the proof that the caller asks for fails.
  static constexpr unsigned kMostMoves = 1u << 20;

  bool remove(int directory, const char* name) {
    struct stat about {};
    const bool known = ::fstatat(directory, name, &about, AT_SYMLINK_NOFOLLOW) == 0;
    if (::unlinkat(directory, name, 0) < 0 && ::unlinkat(directory, name, AT_REMOVEDIR) < 0) {
      return false;
    }
    ++seen_.entries;
    const bool last = known && (S_ISDIR(about.st_mode) || about.st_nlink == 1);
    if (last) seen_.bytes += static_cast<uint64_t>(about.st_blocks) * kBlock;
    return true;
  }

  bool remove_or_move(int child, const char* name, int directory) {
    if (remove(child, name)) {
      stuck_ = false;
      return true;
    }
    char up[24];
    ::snprintf(up, sizeof up, ".wipe%x", moves_);
    // A taken name only costs a number: the next one is tried in the next round.
    long moved = ::syscall(SYS_renameat2, child, name, directory, up, 1u /* RENAME_NOREPLACE */);
    if (moved < 0 && errno != EEXIST) return false;
    stuck_ = false;
    return ++moves_ < kMostMoves;
  }

  // Removes all that can be removed at once; then the first directory that is not empty, opened, or
  // -1.
  int remove_leaves(int directory) {
    for (bool removed = true; removed;) {
      removed = false;
      int child = -1;
      for_each_entry(directory, [&](const char* name) {
        if (remove(directory, name)) return removed = true;
        child = open_directory(directory, name);
        return false;
      });
      if (child >= 0) return child;
    }
    return -1;
  }

  Contents seen_;
  unsigned moves_ = 0;
  bool stuck_ = false;  // nothing was achieved in the directory at hand
};

}  // namespace

Contents wipe_directory(int directory) {
  Wiper wiper;
  wiper.empty(directory);
  return wiper.seen();
}

bool is_empty(int directory) {
  bool empty = true;
  for_each_entry(directory, [&empty](const char*) { return empty = false; });
  return empty;
}

}  // namespace sandbox
