#pragma once
// Pace: whether a scheduler, which has one core, begins another job beside those that run. Jobs
// that do not wait gain nothing from running together: they take turns on the core, and push each
// other's memory out of its caches. So as long as the last job to end was such a one, the next
// begins when the one before has ended, or has run for kPatience. A rule without a clock or a
// thread.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "runtime/job/result.h"
#include "sandbox/sys/units.h"

namespace runtime {

class Pace {
 public:
  // Two slices of the CPU: what runs for longer takes turns with others.
  static constexpr sys::Nanoseconds kPatience = std::chrono::milliseconds(8);

  // A run has ended. How often a job gave up the core says whether it waited for anything; whether
  // its end counts as once depends on the kernel, so jobs that cannot have waited say how often one
  // that does not wait gives it up.
  void ended(const Usage& usage) {
    if (cannot_have_waited(usage))
      least_ = std::min(least_.value_or(usage.switches_voluntary), usage.switches_voluntary);
    one_by_one_ = least_ && usage.cpu_us > 0 && usage.switches_voluntary <= *least_;
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
  // It had the core for most of its time, and all but a moment. Another job may have waited as
  // often as it gave up the core, one that began with cold caches and slept for a millisecond, too.
  static bool cannot_have_waited(const Usage& usage) {
    constexpr int64_t kMomentUs = 500;
    return 2 * usage.cpu_us > usage.wall_us && usage.wall_us - usage.cpu_us < kMomentUs;
  }

  std::optional<int64_t> least_;  // times that a job without a wait gave up the core
  bool one_by_one_ = false;
};

}  // namespace runtime
