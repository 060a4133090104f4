#pragma once
// A range of uids for the cells of one daemon. What the kernel counts for each uid (processes,
// descriptors in flight, keys, inotify watches), and whom a signal reaches, is shared by all who
// have that uid, so two daemons must not choose the same range, although they may see neither each
// other's processes nor each other's files.

#include <cstdint>

#include "sandbox/sys/fd.h"

namespace runtime {

class UidClaim {
 public:
  struct Ranges {
    uint32_t first = 0;  // uid of the first range
    uint32_t size = 0;   // uids of each
    uint32_t count = 0;  // how many there are, side by side
  };
  // One of the ranges, by chance among those that nobody else in this user namespace has claimed.
  // If all are claimed, or the kernel keeps no claims, it is any of them: the chance that two
  // daemons have the same is then one in `count`.
  static UidClaim make(const Ranges& ranges);

  uint32_t first() const { return first_; }
  bool is_exclusive() const { return static_cast<bool>(locks_); }

 private:
  UidClaim() = default;
  uint32_t first_ = 0;
  sys::OwnedFd locks_;  // the claim, until it is closed
};

}  // namespace runtime
