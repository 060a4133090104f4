#include "runtime/engine/cpus.h"

#include <sched.h>

#include <algorithm>
#include <utility>

namespace runtime {

std::vector<unsigned> beginning_with(std::vector<unsigned> cpus, unsigned first) {
  if (const auto found = std::ranges::find(cpus, first); found != cpus.end())
    std::rotate(cpus.begin(), found, cpus.end());
  return cpus;
}

std::vector<unsigned> cpus_for_shards() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<unsigned> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
  }
  if (cpus.empty()) cpus.push_back(0);
  return beginning_with(std::move(cpus), static_cast<unsigned>(std::max(::sched_getcpu(), 0)));
}

}  // namespace runtime
