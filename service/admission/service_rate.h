#pragma once
// ServiceRate: the number of jobs that the workers complete per second, measured on the last ones.
// Estimates the wait of queued jobs. Pure.

#include <cstddef>
#include <optional>

#include "sandbox/sys/units.h"

namespace service {

class ServiceRate {
 public:
  explicit ServiceRate(unsigned workers) : workers_(workers) {}

  void set_workers(unsigned workers) { workers_ = workers; }  // 0: there is none now
  void ended(sys::Microseconds took);
  // Jobs that the workers complete in this time; none before the first has ended.
  size_t within(sys::Microseconds time) const;
  // Until a worker is free for one that has so many before it; nothing before the first has ended,
  // and without workers.
  std::optional<sys::Milliseconds> wait_behind(size_t jobs) const;
  // In whole seconds, from 1 to 600, for a Retry-After.
  unsigned retry_after(size_t jobs) const;

 private:
  // The weight of the newest: the last few dozen decide.
  static constexpr double kNewest = 0.05;
  unsigned workers_;
  std::optional<double> mean_us_;
};

}  // namespace service
