#pragma once
// What the router's choice of pilots is tried on, in virtual time: pilots of unequal speed, among
// them some that are slow and some that will be lost, and jobs that arrive in bursts. The same for
// the same seed.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace placement_bench {

struct Setting {
  unsigned pilots = 10'000;
  size_t jobs = 10'000'000;
  double load = 0.85;  // work that arrives, as a share of what all pilots can do
  double job_s = 0.2;  // of the median job at a pilot of speed 1
  double slow = 0.01;  // share of the pilots that are ten times slower than the others
  double lost = 0.01;  // share of the pilots that are lost at some time
  uint64_t seed = 1;
};

struct PilotPlan {
  unsigned workers = 2;
  double speed = 1;
  double lost_at = -1;     // seconds; below 0: never
  bool is_silent = false;  // it does not hang up: its jobs are missed after the lease
};

struct World {
  std::vector<PilotPlan> pilots;
  std::vector<double> work_s;                       // of each job, at a pilot of speed 1
  std::vector<std::pair<double, size_t>> arrivals;  // a burst: when, and how many of the next jobs
  double last_arrival() const { return arrivals.back().first; }
};

World make_world(const Setting& setting);

}  // namespace placement_bench
