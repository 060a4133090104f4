#pragma once
// The kernel's limit of a job's CPU time (RLIMIT_CPU, in seconds), behind the one that the cell
// reads by itself. It is far behind, because the two do not count alike: a kernel that samples
// (CONFIG_TICK_CPU_ACCOUNTING; kernel/time/posix-cpu-timers.c) charges a whole tick to whoever runs
// when it comes. On a busy machine a program that always runs pays for those that come and go in
// between: one of four was killed at 9.8 s of 10. A fence that comes first has no label of ours.

#include <chrono>
#include <cstdint>

#include "sandbox/sys/units.h"

namespace runtime {

constexpr uint64_t cpu_fence_of(sys::Milliseconds limit) {
  return static_cast<uint64_t>(std::chrono::ceil<std::chrono::seconds>(2 * limit).count()) + 2;
}

}  // namespace runtime
