// How many more or fewer pilots are asked for.

#include "cluster/scale/scale_rule.h"

#include <catch2/catch.hpp>
#include <chrono>

namespace cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using sys::Nanoseconds;

constexpr ScaleLimits kLimits{
    .least = 2, .most = 20, .wait = seconds(2), .idle = seconds(60), .settling = seconds(30)};

Nanoseconds at(int64_t s) { return seconds(1000 + s); }

ScaleLook busy(unsigned running, milliseconds wait) {
  return {.running = running,
          .joined = running,
          .workers = 4 * running,
          .under_way = 5 * running,
          .wait = wait};
}

}  // namespace

TEST_CASE("scale: there are never fewer than the least, and never more than the most", "[scale]") {
  ScaleRule rule(kLimits);
  CHECK(rule.step({}, at(0)) == ScaleStep{.more = 2});
  CHECK(rule.step({.waiting = 1}, at(1)) == ScaleStep{.more = 1});
  CHECK(rule.step({.waiting = 3, .running = 20}, at(2)) == ScaleStep{.recall = 3});
  CHECK(rule.step({.waiting = 1, .running = 23}, at(3)) == ScaleStep{.recall = 1, .retire = 3});
  CHECK(rule.step(busy(20, seconds(900)), at(4)) == ScaleStep{});
}

TEST_CASE("scale: the longer jobs wait, the more are asked for, and twice as many at most",
          "[scale]") {
  CHECK(ScaleRule(kLimits).step(busy(8, seconds(2)), at(0)) == ScaleStep{});
  CHECK(ScaleRule(kLimits).step(busy(8, milliseconds(2'001)), at(0)) == ScaleStep{.more = 1});
  CHECK(ScaleRule(kLimits).step(busy(8, seconds(3)), at(0)) == ScaleStep{.more = 4});
  CHECK(ScaleRule(kLimits).step(busy(8, seconds(400)), at(0)) == ScaleStep{.more = 8});
  CHECK(ScaleRule(kLimits).step(busy(15, seconds(400)), at(0)) == ScaleStep{.more = 5});
}

TEST_CASE("scale: with none at all the first jobs have one", "[scale]") {
  ScaleLimits limits = kLimits;
  limits.least = 0;
  CHECK(ScaleRule(limits).step({}, at(0)) == ScaleStep{});
  CHECK(ScaleRule(limits).step({.wait = seconds(60)}, at(0)) == ScaleStep{.more = 1});
}

TEST_CASE("scale: an engine whose queue has slots is asked for no more", "[scale]") {
  ScaleRule rule(kLimits);
  ScaleLook look = busy(4, seconds(400));
  look.waiting = 1;
  CHECK(rule.step(look, at(0)) == ScaleStep{});
  look.waiting = 0;
  CHECK(rule.step(look, at(1)) == ScaleStep{.more = 4});
}

TEST_CASE("scale: slots that have begun may join first, for so long", "[scale]") {
  ScaleRule rule(kLimits);
  REQUIRE(rule.step(busy(4, seconds(400)), at(0)) == ScaleStep{.more = 4});
  ScaleLook joining = busy(4, seconds(400));
  joining.running = 8;
  CHECK(rule.step(joining, at(29)) == ScaleStep{});
  CHECK(rule.step(joining, at(30)) == ScaleStep{.more = 8});
  CHECK(rule.step(busy(8, seconds(400)), at(31)) == ScaleStep{.more = 8});  // all have joined
}

TEST_CASE("scale: who has little to do goes after a while, half of them at a time", "[scale]") {
  ScaleRule rule(kLimits);
  ScaleLook quiet{.waiting = 1, .running = 12, .joined = 12, .workers = 48, .under_way = 3};
  CHECK(rule.step(quiet, at(0)) == ScaleStep{});
  CHECK(rule.step(quiet, at(59)) == ScaleStep{});
  CHECK(rule.step(quiet, at(60)) == ScaleStep{.recall = 1, .retire = 6});
  quiet.waiting = 0;
  quiet.running = quiet.joined = 6;
  quiet.workers = 24;
  CHECK(rule.step(quiet, at(61)) == ScaleStep{});
  CHECK(rule.step(quiet, at(120)) == ScaleStep{.retire = 3});
}

TEST_CASE("scale: work in between, or a job that waits, begins the time of rest anew", "[scale]") {
  ScaleRule rule(kLimits);
  const ScaleLook quiet{.running = 8, .joined = 8, .workers = 32, .under_way = 0};
  ScaleLook halfway = quiet;
  halfway.under_way = 16;
  ScaleLook waiting = quiet;
  waiting.wait = milliseconds(5);
  const ScaleLook between = GENERATE_COPY(halfway, waiting);
  REQUIRE(rule.step(quiet, at(0)) == ScaleStep{});
  CHECK(rule.step(between, at(50)) == ScaleStep{});
  CHECK(rule.step(quiet, at(60)) == ScaleStep{});
  CHECK(rule.step(quiet, at(119)) == ScaleStep{});
  CHECK(rule.step(quiet, at(120)) == ScaleStep{.retire = 4});
}

}  // namespace cluster
