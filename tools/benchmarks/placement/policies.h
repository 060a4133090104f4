#pragma once
// Ways to choose a pilot for the next job: the router's own, and what it is compared with.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/benchmarks/placement/world.h"

namespace placement_bench {

class Policy {
 public:
  virtual ~Policy() = default;
  virtual void enter(size_t pilot, unsigned workers) = 0;
  virtual void leave(size_t pilot) = 0;
  virtual void count(size_t pilot, unsigned jobs) = 0;  // that it has now, waiting and running
  virtual void tell(size_t pilot, double mean_us) = 0;  // how long its jobs took of late
  virtual std::optional<size_t> choose() = 0;           // none: the job waits at the router
};

struct Named {
  std::string name;
  std::unique_ptr<Policy> policy;
};

// "two choices": cluster/router/placement.h. "by chance" and "round robin" ask no pilot how it
// stands. "one queue" is what no router can have: a job waits for the first free worker of all, and
// has the fastest of several; it knows each speed.
std::vector<Named> all_policies(const World& world, uint64_t seed);

}  // namespace placement_bench
