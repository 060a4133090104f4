#pragma once
// Pace: whether a scheduler, which has one core, begins another job beside those that run. Jobs
// that do not wait gain nothing from running together: they take turns on the core, and push each
// other's memory out of its caches. So as long as the last job to end was such a one, the next
// begins when the one before has ended, or has run for kPatience. A rule without a clock or a
// thread.

#include <chrono>
#include <optional>

#include "runtime/job/result.h"
#include "sandbox/sys/units.h"

namespace runtime {

class Pace {
 public:
  // Two slices of the CPU: what runs for longer takes turns with others.
  static constexpr sys::Nanoseconds kPatience = std::chrono::milliseconds(8);

  // A run has ended. Whether it waited for anything is known by how often it gave up the core, of
  // which its end may count as one, and by its time on the core, where others may have been first.
  void ended(const Usage& usage) {
    one_by_one_ = usage.switches_voluntary <= 1 && 3 * usage.cpu_us > usage.wall_us;
  }

  // How long the next job has to wait, where `youngest` is when the last of those that run has
  // begun, if any runs. A job that has run for long waits, perhaps; the next one may not be held
  // up once more.
  sys::Nanoseconds rest(sys::Nanoseconds now, std::optional<sys::Nanoseconds> youngest) {
    if (!one_by_one_ || !youngest) return {};
    if (now < *youngest + kPatience) return *youngest + kPatience - now;
    one_by_one_ = false;
    return {};
  }

 private:
  bool one_by_one_ = false;
};

}  // namespace runtime
