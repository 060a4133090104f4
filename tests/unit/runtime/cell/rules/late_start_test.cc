#include "runtime/cell/rules/late_start.h"

#include <catch2/catch.hpp>

using runtime::LateStart;
using std::chrono::milliseconds;
using sys::Nanoseconds;

namespace {

constexpr Nanoseconds kCounted = milliseconds(1000);

LateStart of(bool makes_processes) {
  LateStart rule;
  rule.begin(makes_processes);
  return rule;
}

}  // namespace

TEST_CASE("late start: a program that was forked late has its time from then on") {
  LateStart rule = of(false);
  CHECK(rule.moved(kCounted, kCounted + milliseconds(200)) == kCounted + milliseconds(200));
}

TEST_CASE("late start: what a fork usually takes moves nothing") {
  LateStart rule = of(false);
  CHECK_FALSE(rule.moved(kCounted, kCounted - milliseconds(5)));
  CHECK_FALSE(rule.moved(kCounted, kCounted));
  CHECK_FALSE(rule.moved(kCounted, kCounted + LateStart::kLate - Nanoseconds(1)));
  CHECK(rule.moved(kCounted, kCounted + LateStart::kLate));  // and was no use of the one time
}

TEST_CASE("late start: it moves once, for each program") {
  LateStart rule = of(false);
  REQUIRE(rule.moved(kCounted, kCounted + milliseconds(200)));
  CHECK_FALSE(rule.moved(kCounted + milliseconds(200), kCounted + milliseconds(900)));
  rule.begin(false);
  CHECK(rule.moved(kCounted, kCounted + milliseconds(200)));
}

TEST_CASE("late start: a young process is no late start of a program that makes them") {
  LateStart rule = of(true);
  CHECK_FALSE(rule.moved(kCounted, kCounted + milliseconds(200)));
}

TEST_CASE("late start: who was not there at the deadline had not begun, and is believed once") {
  LateStart rule = of(true);
  rule.found_nobody();
  REQUIRE(rule.moved(kCounted, kCounted + milliseconds(500)) == kCounted + milliseconds(500));
  rule.found_nobody();
  CHECK_FALSE(rule.moved(kCounted + milliseconds(500), kCounted + milliseconds(1000)));
  rule.begin(true);  // what was found of one program says nothing of the next
  CHECK_FALSE(rule.moved(kCounted, kCounted + milliseconds(200)));
}
