#pragma once
// Simulation: one world under one policy, event by event.

#include <cstddef>

#include "tools/benchmarks/placement/policies.h"
#include "tools/benchmarks/placement/world.h"

namespace placement_bench {

struct Figures {
  // From the arrival of a job to the start that gave its verdict, in seconds.
  double wait_p50 = 0, wait_p99 = 0, wait_mean = 0, wait_longest = 0;
  // How much more of the time the busiest tenth of the pilots works than all of them, until the
  // last job has arrived; of those that are not lost.
  double imbalance = 0;
  size_t restarts = 0;  // of jobs whose pilot was lost
};

Figures simulate(const World& world, Policy& policy);

}  // namespace placement_bench
