#include "runtime/scheduler/admission/pace.h"

#include <catch2/catch.hpp>
#include <chrono>

namespace runtime {
namespace {

using namespace std::chrono_literals;

constexpr sys::Nanoseconds kNow = 1000s;

// A run of a millisecond, or so long.
Usage used(int64_t cpu_us, int64_t switches, int64_t wall_us = 1000) {
  Usage usage;
  usage.wall_us = wall_us;
  usage.cpu_us = cpu_us;
  usage.switches_voluntary = switches;
  return usage;
}

TEST_CASE("behind a job that did not wait, the next begins when none has begun just now",
          "[pace]") {
  Pace pace;
  pace.ended(used(900, 1));
  CHECK(pace.rest(kNow, std::nullopt) == 0ns);
  CHECK(pace.rest(kNow, kNow) == Pace::kPatience);
  CHECK(pace.rest(kNow, kNow - 1ms) == Pace::kPatience - 1ms);
  CHECK(pace.rest(kNow, kNow - Pace::kPatience) == 0ns);
}

TEST_CASE("behind a job that waited, or of which nothing is known, the next begins at once",
          "[pace]") {
  Pace pace;
  CHECK(pace.rest(kNow, kNow) == 0ns);
  const auto [cpu_us, switches] = GENERATE(std::pair(900, 2),  // it slept, for a moment
                                           std::pair(100, 2), std::pair(0, 0));  // it never began
  pace.ended(used(900, 1));
  pace.ended(used(cpu_us, switches));
  CHECK(pace.rest(kNow, kNow) == 0ns);
}

TEST_CASE("where the end of a job counts as no wait, a single wait is noticed", "[pace]") {
  Pace pace;
  pace.ended(used(100, 1));  // nothing is known yet
  CHECK(pace.rest(kNow, kNow) == 0ns);
  pace.ended(used(900, 0));
  pace.ended(used(100, 1));
  CHECK(pace.rest(kNow, kNow) == 0ns);
}

TEST_CASE("a job that did not wait for anything but the core is one that does not wait", "[pace]") {
  Pace pace;
  pace.ended(used(900, 1));
  pace.ended(used(100, 1));
  CHECK(pace.rest(kNow, kNow) == Pace::kPatience);
}

TEST_CASE("a job that took long, and slept as well, says nothing of jobs that do not wait",
          "[pace]") {
  Pace pace;
  pace.ended(used(1663, 2, 3121));  // 1 ms of sleep: the first run of its cell
  pace.ended(used(290, 2, 1430));   // and those behind it
  CHECK(pace.rest(kNow, kNow) == 0ns);
  pace.ended(used(900, 1));
  pace.ended(used(290, 2, 1430));
  CHECK(pace.rest(kNow, kNow) == 0ns);
}

TEST_CASE("one job holds up the others once, however long it runs", "[pace]") {
  Pace pace;
  pace.ended(used(900, 1));
  CHECK(pace.rest(kNow, kNow - Pace::kPatience) == 0ns);
  CHECK(pace.rest(kNow, kNow) == 0ns);
  pace.ended(used(900, 1));
  CHECK(pace.rest(kNow, kNow) == Pace::kPatience);
}

}  // namespace
}  // namespace runtime
