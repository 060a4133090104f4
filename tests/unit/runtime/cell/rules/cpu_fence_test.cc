#include "runtime/cell/rules/cpu_fence.h"

#include <catch2/catch.hpp>

using runtime::cpu_fence_of;
using std::chrono::milliseconds;

TEST_CASE("cpu fence: a kernel that charges half as much again does not come first") {
  for (const int64_t limit : {1, 100, 1000, 10'000, 60'000, 300'000, 86'400'000}) {
    CAPTURE(limit);
    CHECK(cpu_fence_of(milliseconds(limit)) * 1000 >= static_cast<uint64_t>(limit) * 3 / 2 + 1500);
  }
}

TEST_CASE("cpu fence: it comes") {
  CHECK(cpu_fence_of(milliseconds(1)) == 3);
  CHECK(cpu_fence_of(milliseconds(60'000)) == 122);
}
