#pragma once
// LateStart: when the wall time of a program begins that the kernel was long in forking. It waits
// for locks on the files that a template has mapped, and a process of the lowest class that has one
// of them may have no CPU: none of that is the program's time. A rule without a clock or a kernel.

#include <chrono>
#include <optional>

#include "sandbox/sys/units.h"

namespace runtime {

class LateStart {
 public:
  // A fork usually takes less, and so does the error of its measure, a tick of 10 ms.
  static constexpr sys::Nanoseconds kLate = std::chrono::milliseconds(30);

  // For the next program. `makes_processes`: it may, and so its oldest living process may be
  // younger than it.
  void begin(bool makes_processes) { *this = LateStart(makes_processes); }
  // Its time seemed to be over, and no process of it was there to be ended.
  void found_nobody() { nobody_ = true; }

  // Its time was counted from `counted`, and its oldest living process is there since `oldest`. The
  // start that counts from now on, if it is another one. That happens once, because a program can
  // make processes all the time; and to one that does, only when it had none at its deadline.
  std::optional<sys::Nanoseconds> moved(sys::Nanoseconds counted, sys::Nanoseconds oldest) {
    if (moved_ || (makes_processes_ && !nobody_) || oldest - counted < kLate) return std::nullopt;
    moved_ = true;
    return oldest;
  }

  LateStart() = default;

 private:
  explicit LateStart(bool makes_processes) : makes_processes_(makes_processes) {}

  bool makes_processes_ = false, nobody_ = false, moved_ = false;
};

}  // namespace runtime
