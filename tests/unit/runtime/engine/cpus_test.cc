// The CPUs that shards are pinned to.

#include "runtime/engine/cpus.h"

#include <sched.h>

#include <catch2/catch.hpp>

namespace runtime {

using Cpus = std::vector<unsigned>;

TEST_CASE("cpus: shards begin with the one that the process runs on, and go around", "[cpus]") {
  CHECK(beginning_with({0, 1, 2, 3}, 2) == Cpus{2, 3, 0, 1});
  CHECK(beginning_with({0, 1}, 0) == Cpus{0, 1});
  CHECK(beginning_with({3, 5, 9}, 9) == Cpus{9, 3, 5});
  CHECK(beginning_with({3, 5}, 4) == Cpus{3, 5});  // one that it may not use any more
}

TEST_CASE("cpus: a process that is pinned has that one alone", "[cpus]") {
  cpu_set_t before;
  REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
  const Cpus all = cpus_for_shards();
  CHECK(all.size() == static_cast<size_t>(CPU_COUNT(&before)));
  for (const unsigned cpu : all) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(cpus_for_shards() == Cpus{cpu});
  }
  REQUIRE(::sched_setaffinity(0, sizeof before, &before) == 0);
}

}  // namespace runtime
