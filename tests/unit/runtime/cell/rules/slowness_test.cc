#include "runtime/cell/rules/slowness.h"

#include <catch2/catch.hpp>

using runtime::disk_explains;
using runtime::theft_explains;
using runtime::Trouble;
using runtime::Waiting;
using std::chrono::milliseconds;

namespace {

constexpr Waiting kComputed{.longest = milliseconds(100), .ran = milliseconds(700)};
constexpr Waiting kSlept{.longest = milliseconds(1), .ran = milliseconds(2)};

Trouble stolen(int64_t ms) { return {.window = milliseconds(1000), .stolen = milliseconds(ms)}; }
Trouble stalled(int64_t ms) { return {.window = milliseconds(1000), .disk = milliseconds(ms)}; }

}  // namespace

TEST_CASE("slowness: a fifth of the time, stolen from a job that wanted the CPU, explains its end",
          "[slowness]") {
  CHECK_FALSE(theft_explains(stolen(200), kComputed));
  CHECK(theft_explains(stolen(201), kComputed));
  CHECK(theft_explains(stolen(950), {.longest = milliseconds(0), .ran = milliseconds(50)}));
  CHECK_FALSE(disk_explains(stolen(900), kSlept));
}

TEST_CASE("slowness: from a job that slept nothing was stolen", "[slowness]") {
  CHECK_FALSE(theft_explains(stolen(900), kSlept));
}

TEST_CASE("slowness: a machine whose disks stalled explains a job that neither ran nor waited",
          "[slowness]") {
  CHECK_FALSE(disk_explains(stalled(200), kSlept));
  CHECK(disk_explains(stalled(201), kSlept));
  CHECK_FALSE(theft_explains(stalled(900), kComputed));
}

TEST_CASE("slowness: a job that had or wanted a CPU nearly all the time waited for no disk",
          "[slowness]") {
  CHECK_FALSE(disk_explains(stalled(900), kComputed));
  CHECK(disk_explains(stalled(900), {.longest = milliseconds(100), .ran = milliseconds(600)}));
  // Two threads on two CPUs.
  CHECK(disk_explains(stalled(900), {.ran = milliseconds(1500), .cpus = 2}));
}

TEST_CASE("slowness: fewer ticks than the kernel can tell explain nothing", "[slowness]") {
  const Trouble brief{
      .window = milliseconds(40), .stolen = milliseconds(20), .disk = milliseconds(20)};
  CHECK_FALSE(theft_explains(brief, {.ran = milliseconds(20)}));
  CHECK_FALSE(disk_explains(brief, kSlept));
  CHECK_FALSE(theft_explains({}, {}));  // both looks were one
  CHECK_FALSE(disk_explains({}, {}));
}
