#include "runtime/host/uid_claim.h"

#include <fcntl.h>
#include <sys/random.h>

#include <utility>

#include "sandbox/sys/file.h"

namespace runtime {

using sys::OwnedFd;

namespace {

// The file of a user namespace is the one thing that all who share its uids can open, whatever
// else they have of their own: it is a single inode. Byte n of it stands for uid n. It can only be
// opened for reading, so locks on it are shared ones, and the kernel tells whether one of another
// owner is there.
constexpr const char* kUserNamespace = "/proc/self/ns/user";

struct ::flock range_of(short type, uint32_t first, uint32_t size) {
  struct ::flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = first;
  range.l_len = size;
  return range;
}

bool lock(int fd, short type, uint32_t first, uint32_t size) {
  struct ::flock range = range_of(type, first, size);
  return ::fcntl(fd, F_OFD_SETLK, &range) == 0;
}

bool is_ours_alone(int fd, uint32_t first, uint32_t size) {
  struct ::flock range = range_of(F_WRLCK, first, size);  // would it be granted?
  return ::fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type == F_UNLCK;
}

// First the lock, then the look: of two who want the same range at the same time, at least one
// sees the other.
bool claim(int fd, uint32_t first, uint32_t size) {
  if (!lock(fd, F_RDLCK, first, size)) return false;
  if (is_ours_alone(fd, first, size)) return true;
  lock(fd, F_UNLCK, first, size);
  return false;
}

}  // namespace

UidClaim UidClaim::make(const Ranges& ranges) {
  VERIFY(ranges.size > 0 && ranges.count > 0);
  uint32_t chance = 0;
  VERIFY(::getrandom(&chance, sizeof chance, 0) == sizeof chance);
  UidClaim chosen;
  chosen.first_ = ranges.first + chance % ranges.count * ranges.size;
  sys::Result<OwnedFd> locks = sys::open(kUserNamespace, O_RDONLY);
  if (!locks) return chosen;
  for (uint64_t i = 0; i < ranges.count; ++i) {
    const auto number = static_cast<uint32_t>((chance + i) % ranges.count);
    const uint32_t first = ranges.first + number * ranges.size;
    if (!claim(locks->get(), first, ranges.size)) continue;
    chosen.first_ = first;
    chosen.locks_ = std::move(locks).value();
    break;
  }
  return chosen;
}

}  // namespace runtime
