#include "runtime/cell/rules/run_clock.h"

#include <catch2/catch.hpp>
#include <optional>
#include <vector>

using runtime::RunClock;
using runtime::Standing;
using std::chrono::milliseconds;
using std::chrono::seconds;
using sys::Nanoseconds;
using Due = RunClock::Due;

namespace {

constexpr Nanoseconds kBegan = milliseconds(1000);
constexpr RunClock::Terms kUsual = {.wall = seconds(10), .cpu = seconds(5)};

Nanoseconds at(int64_t ms) { return kBegan + milliseconds(ms); }

RunClock running(const RunClock::Terms& terms = kUsual) {
  RunClock clock;
  clock.order(terms, kBegan);
  clock.begin(kBegan);
  return clock;
}

// All that is due in one turn of the timer, in order; but for the bearings, which each run takes.
std::vector<Due> turn(RunClock& clock, Nanoseconds now) {
  std::vector<Due> seen;
  for (Due due = clock.next_due(now); due != Due::kNothing; due = clock.next_due(now, due)) {
    if (due != Due::kBearings) seen.push_back(due);
  }
  return seen;
}

bool takes_bearings(RunClock& clock, Nanoseconds now) {
  return clock.next_due(now, Due::kStanding) == Due::kBearings;
}

using Dues = std::vector<Due>;

Dues turn_of(RunClock clock, Nanoseconds now) { return turn(clock, now); }

}  // namespace

TEST_CASE("run clock: output is watched from 2 ms on, once", "[run_clock]") {
  RunClock clock = running();
  CHECK(clock.next() == at(2));
  CHECK(turn(clock, at(1)).empty());
  CHECK(turn(clock, at(2)) == Dues{Due::kAttention});
  CHECK(turn(clock, at(3)).empty());
  CHECK(turn(clock, at(20)).empty());
  CHECK(clock.next() == at(5000));  // the limit of CPU time could be used up
}

TEST_CASE("run clock: where all is due at once, CPU time comes before wall time", "[run_clock]") {
  RunClock clock =
      running({.wall = seconds(10), .cpu = seconds(5), .is_watched = true, .may_stand_back = true});
  CHECK(turn(clock, at(20'000)) ==
        Dues{Due::kCpu, Due::kAim, Due::kWall, Due::kAttention, Due::kWatch, Due::kStanding});
  CHECK(clock.next() == RunClock::kNever);  // each has been taken
}

TEST_CASE("run clock: the deadline is aimed at a little before, apart in each cell",
          "[run_clock]") {
  CHECK(turn_of(running(), at(9'995)) == Dues{Due::kCpu, Due::kAttention});
  RunClock first = running(),
           second = running({.wall = seconds(10), .cpu = seconds(20), .cell = 3});
  CHECK(turn(first, at(9'996)) == Dues{Due::kCpu, Due::kAim, Due::kAttention});
  CHECK(turn(second, at(9'993)) == Dues{Due::kAim, Due::kAttention});
  RunClock again = running({.wall = seconds(10), .cpu = seconds(20), .cell = 16});
  CHECK(turn(again, at(9'995)) == Dues{Due::kAttention});
  RunClock brief = running({.wall = milliseconds(8), .cpu = seconds(5), .cell = 15});
  CHECK(turn(brief, at(5)) == Dues{Due::kAttention});  // a quarter of the limit at most
  CHECK(turn(brief, at(6)) == Dues{Due::kAim});
  CHECK(turn(brief, at(8)) == Dues{Due::kWall});
}

TEST_CASE("run clock: CPU time is read again when the rest could be used up", "[run_clock]") {
  RunClock clock = running();
  REQUIRE_FALSE(clock.used_up(seconds(1)));
  clock.read_cpu_again(at(5000), seconds(1), 2);
  CHECK(turn(clock, at(6999)) == Dues{Due::kAttention});
  CHECK(turn(clock, at(7000)) == Dues{Due::kCpu});
  clock.read_cpu_again(at(7000), seconds(5) - Nanoseconds(1), 2);
  CHECK(clock.next() == at(7001));  // and not more often than each millisecond
}

TEST_CASE("run clock: a job at its limit of CPU time is not asked for it again", "[run_clock]") {
  RunClock clock = running();
  CHECK(clock.used_up(seconds(5)) == seconds(5));
  CHECK(turn(clock, at(6000)) == Dues{Due::kAttention});
}

TEST_CASE("run clock: looks at a job count as its CPU time", "[run_clock]") {
  RunClock clock = running();
  CHECK_FALSE(clock.looked(milliseconds(1)));
  CHECK(clock.looked(milliseconds(999)));  // so dear that CPU time is read at once
  CHECK(clock.looked_for() == seconds(1));
  CHECK_FALSE(clock.used_up(milliseconds(3999)));
  CHECK(clock.used_up(seconds(4)) == seconds(5));
  clock.read_cpu_again(at(0), seconds(2), 1);
  CHECK(turn(clock, at(1999)) == Dues{Due::kAttention});
  CHECK(turn(clock, at(2000)) == Dues{Due::kCpu});
  clock.order(kUsual, at(3000));
  CHECK(clock.looked_for() == Nanoseconds(0));
}

TEST_CASE("run clock: the time begins anew when pid 1 forks, once for each run", "[run_clock]") {
  RunClock clock = running();
  REQUIRE(clock.forks());
  clock.begin(at(500));
  CHECK(clock.started_at() == at(500));
  CHECK(turn(clock, at(10'499)) == Dues{Due::kCpu, Due::kAim, Due::kAttention});
  CHECK(turn(clock, at(10'500)) == Dues{Due::kWall});
  CHECK_FALSE(clock.forks());
  clock.order(kUsual, at(11'000));
  CHECK(clock.forks());
}

TEST_CASE("run clock: a program that was forked late has its time from then on", "[run_clock]") {
  RunClock clock = running();
  turn(clock, at(9'996));
  clock.aimed(at(9'996), at(700), {});
  CHECK(clock.started_at() == at(700));
  CHECK(turn(clock, at(10'695)).empty());
  CHECK(turn(clock, at(10'696)) == Dues{Due::kAim});
  clock.aimed(at(10'696), at(9000), {});  // once
  CHECK(turn(clock, at(10'700)) == Dues{Due::kWall});
}

TEST_CASE("run clock: what becomes due in a turn waits for the next one", "[run_clock]") {
  RunClock clock = running();
  Due due = clock.next_due(at(10'900));
  REQUIRE(due == Due::kCpu);
  due = clock.next_due(at(10'900), due);
  REQUIRE(due == Due::kAim);
  clock.aimed(at(10'900), at(800), {});  // its new aim has passed, too
  CHECK(clock.next_due(at(10'900), due) == Due::kWall);
}

TEST_CASE("run clock: who was ready and not run for a fifth of its time was contended",
          "[run_clock]") {
  RunClock clock = running();
  clock.aimed(at(9'996), std::nullopt, {seconds(2)});
  CHECK_FALSE(clock.is_contended());
  clock.aimed(at(9'996), std::nullopt, {seconds(2) + Nanoseconds(1)});
  CHECK(clock.is_contended());
  clock.order(kUsual, at(11'000));
  CHECK_FALSE(clock.is_contended());
}

TEST_CASE("run clock: the wall deadline comes later by what the job waited for a CPU",
          "[run_clock]") {
  RunClock clock = running();
  CHECK(turn(clock, at(9'996)) == Dues{Due::kCpu, Due::kAim, Due::kAttention});
  clock.aimed(at(9'996), std::nullopt, {seconds(4)});
  CHECK(clock.waited() == seconds(4));
  CHECK(turn(clock, at(13'995)).empty());
  CHECK(turn(clock, at(13'996)) == Dues{Due::kAim});
  clock.aimed(at(13'996), std::nullopt, {seconds(4)});  // it has waited no more
  CHECK(turn(clock, at(14'000)) == Dues{Due::kWall});
  clock.order(kUsual, at(15'000));
  CHECK(clock.waited() == Nanoseconds(0));
}

TEST_CASE("run clock: a deadline that has become a little later is not aimed at again",
          "[run_clock]") {
  RunClock clock = running();
  turn(clock, at(9'996));
  clock.aimed(at(9'996), std::nullopt, {milliseconds(3)});
  CHECK(turn(clock, at(10'002)).empty());
  CHECK(turn(clock, at(10'003)) == Dues{Due::kWall});
}

TEST_CASE("run clock: at the wall deadline, too, it is put off by what the job has waited since",
          "[run_clock]") {
  RunClock clock = running();
  turn(clock, at(10'000));
  CHECK_FALSE(clock.has_waited(at(10'000), {}));
  REQUIRE(clock.has_waited(at(10'000), {milliseconds(50)}));
  CHECK(turn(clock, at(10'050)) == Dues{Due::kAim, Due::kWall});
  CHECK_FALSE(clock.has_waited(at(10'050), {milliseconds(50)}));
  CHECK_FALSE(clock.has_waited(at(10'070), {milliseconds(60)}));  // and that is over, too
}

TEST_CASE("run clock: a wall deadline comes later by a hundred times the limit at most",
          "[run_clock]") {
  RunClock clock = running({.wall = seconds(1), .cpu = seconds(5)});
  CHECK_FALSE(clock.has_waited(at(200'000), {seconds(5000)}));
  CHECK(clock.waited() == seconds(100));
  CHECK(clock.still_waits(at(100'999), {.is_crowded = true}));
  CHECK_FALSE(clock.still_waits(at(101'000), {.is_crowded = true}));
}

TEST_CASE("run clock: who waits for a CPU at its wall deadline is looked at once more",
          "[run_clock]") {
  RunClock clock = running();
  clock.aimed(at(9'996), std::nullopt, {milliseconds(10)});
  turn(clock, at(10'010));
  REQUIRE(clock.still_waits(at(10'010), {.is_crowded = false}));
  CHECK(turn(clock, at(10'021)).empty());
  CHECK(turn(clock, at(10'022)) == Dues{Due::kWall});  // not aimed at: the looks are to be apart
}

TEST_CASE("run clock: a deadline was as late as it was put off, and no later", "[run_clock]") {
  RunClock clock = running();
  clock.aimed(at(9'996), std::nullopt, {milliseconds(10)});
  CHECK(clock.deadline_moved() == milliseconds(10));
  turn(clock, at(10'010));
  REQUIRE(clock.still_waits(at(10'010), {.is_crowded = false}));
  CHECK(clock.deadline_moved() == milliseconds(22));
  CHECK(clock.waited() == milliseconds(10));

  clock.has_waited(at(10'022), {milliseconds(30)});
  CHECK(clock.deadline_moved() == milliseconds(30));
  clock.order(kUsual, at(11'000));
  CHECK(clock.deadline_moved() == Nanoseconds(0));
}

TEST_CASE("run clock: where a job has hardly waited, it does not wait at its deadline",
          "[run_clock]") {
  RunClock clock = running();
  clock.aimed(at(9'996), std::nullopt, {milliseconds(9)});
  CHECK_FALSE(clock.still_waits(at(10'009), {.is_crowded = false}));
}

TEST_CASE("run clock: who has slept until now may wait for the first time, on a crowded machine",
          "[run_clock]") {
  RunClock clock = running();
  clock.aimed(at(9'996), std::nullopt, {milliseconds(1)});
  CHECK(clock.still_waits(at(10'001), {.is_crowded = true}));
}

TEST_CASE("run clock: of two looks far apart nothing is known of the time since the job ran",
          "[run_clock]") {
  RunClock clock = running();
  clock.aimed(at(9'996), std::nullopt, {milliseconds(10)});
  CHECK_FALSE(RunClock(clock).still_waits(at(10'010), {.ran = true, .apart = RunClock::kNear}));
  const Nanoseconds far = RunClock::kNear + Nanoseconds(1);
  CHECK(RunClock(clock).still_waits(at(10'010), {.ran = true, .apart = far}));
  CHECK(RunClock(clock).still_waits(at(10'010), {.ran = false, .apart = milliseconds(1)}));
  CHECK(RunClock::kNear > RunClock::kForesight + milliseconds(RunClock::kSpread));
  CHECK(RunClock::kNear > RunClock::kSurelyCounted);
}

TEST_CASE("run clock: a job is credited with no time in which a thread of its own had the CPU",
          "[run_clock]") {
  CHECK(RunClock::credit(seconds(10), {seconds(4), seconds(2)}) == seconds(4));
  CHECK(RunClock::credit(seconds(10), {seconds(9), seconds(8)}) == seconds(2));
  CHECK(RunClock::credit(seconds(10), {seconds(9), seconds(8), 2}) == seconds(6));
  CHECK(RunClock::credit(seconds(10), {seconds(9), seconds(20)}) == Nanoseconds(0));
}

TEST_CASE("run clock: in a conversation both have waited, and neither while the other ran",
          "[run_clock]") {
  CHECK(RunClock::credit(seconds(10), {seconds(2), seconds(1)}, {seconds(3), seconds(1)}) ==
        seconds(5));
  CHECK(RunClock::credit(seconds(10), {seconds(7), seconds(3)}, {seconds(7), seconds(3)}) ==
        seconds(4));
}

TEST_CASE("run clock: a deadline at which nobody lives is looked at again, for so long",
          "[run_clock]") {
  RunClock clock = running();
  turn(clock, at(10'000));
  clock.all_ended(at(10'000), RunClock::Left::kNobody);
  CHECK(clock.ended_by() == RunClock::kNever);
  CHECK(turn(clock, at(10'004)).empty());
  CHECK(turn(clock, at(10'005)) == Dues{Due::kAim, Due::kWall});
  clock.all_ended(at(10'005), RunClock::Left::kDead);
  CHECK(clock.ended_by() == at(10'000));  // they died before
  CHECK(turn(clock, at(39'999)) == Dues{Due::kAim, Due::kWall});
  CHECK(turn(clock, at(40'000)) == Dues{Due::kPatience});  // from the first time on
}

TEST_CASE("run clock: of who is found dead well after the deadline is not known when it died",
          "[run_clock]") {
  RunClock clock = running({.wall = milliseconds(400), .cpu = seconds(5)});
  clock.aimed(at(390), std::nullopt, {milliseconds(100)});
  const Nanoseconds far = at(500) + milliseconds(100) + RunClock::kNear;
  CHECK_FALSE(clock.is_over_by_far(far));
  CHECK(clock.is_over_by_far(far + Nanoseconds(1)));
  RunClock in_time = clock;
  in_time.all_ended(far, RunClock::Left::kDead);
  CHECK(in_time.ended_by() == at(500));
  clock.all_ended(far + milliseconds(9), RunClock::Left::kDead);
  CHECK(clock.ended_by() == far + milliseconds(9));
}

TEST_CASE("run clock: who comes late to the end of the patience waits once more", "[run_clock]") {
  constexpr Nanoseconds kPatience = RunClock::kKillPatience, kLate = RunClock::kLate;
  RunClock clock = running();
  turn(clock, at(99));
  clock.kill(at(100));
  const Nanoseconds end = at(100) + kPatience;
  CHECK(turn_of(clock, end + kLate) == Dues{Due::kPatience});
  const Nanoseconds late = end + kLate + Nanoseconds(1);
  CHECK(turn(clock, late).empty());
  CHECK(turn_of(clock, late + kPatience - Nanoseconds(1)).empty());
  CHECK(turn(clock, late + kPatience + seconds(9)) == Dues{Due::kPatience});  // not again

  clock.order({.wall = seconds(10), .cpu = seconds(5)}, at(60'000));
  clock.begin(at(60'000));
  turn(clock, at(60'050));
  clock.kill(at(60'051));
  CHECK(turn(clock, at(99'000)).empty());  // another job, another time
}

TEST_CASE("run clock: who makes processes is believed a late start if it had none at its deadline",
          "[run_clock]") {
  RunClock clock = running({.wall = seconds(10), .cpu = seconds(50), .makes_processes = true});
  clock.aimed(at(9'996), at(9000), {});
  REQUIRE(clock.started_at() == kBegan);
  clock.all_ended(at(10'000), RunClock::Left::kNobody);
  clock.aimed(at(10'000), at(9'900), {});
  CHECK(clock.started_at() == at(9'900));
  CHECK(turn(clock, at(19'890)) == Dues{Due::kAttention});  // and no patience is running out
}

TEST_CASE("run clock: a job that began between the last look and its deadline has all of its time",
          "[run_clock]") {
  const bool makes_processes = GENERATE(false, true);
  RunClock clock =
      running({.wall = seconds(1), .cpu = seconds(5), .makes_processes = makes_processes});
  clock.aimed(at(996), std::nullopt, {});
  turn(clock, at(1'000));
  CHECK_FALSE(clock.is_put_off(at(1'000)));
  clock.aimed(at(1'000), at(999), {});
  CHECK(clock.is_put_off(at(1'000)));
  CHECK(clock.started_at() == at(999));
  CHECK(clock.is_put_off(at(1'998)));
  CHECK_FALSE(clock.is_put_off(at(1'999)));
}

TEST_CASE("run clock: of a job that was killed only the patience is left", "[run_clock]") {
  RunClock clock =
      running({.wall = seconds(1), .cpu = seconds(1), .is_watched = true, .may_stand_back = true});
  CHECK_FALSE(clock.is_doomed());
  CHECK(clock.heeds_watch());
  clock.kill(at(500));
  CHECK(clock.is_doomed());
  CHECK_FALSE(clock.heeds_watch());
  CHECK(clock.may_hold());
  CHECK(turn(clock, at(2499)) == Dues{Due::kAttention, Due::kStanding});
  clock.stands_back(at(2499), {}, 1);
  clock.stand_no_more();
  CHECK(turn(clock, at(2500)) == Dues{Due::kPatience});
  clock.order(kUsual, at(3000));
  CHECK_FALSE(clock.is_doomed());
  CHECK(clock.next() == RunClock::kNever);  // before begin()
}

TEST_CASE("run clock: a job that is killed before it was forked has no more patience for that",
          "[run_clock]") {
  RunClock clock = running();
  clock.kill(at(10));
  REQUIRE(clock.forks());
  clock.begin(at(1000));
  CHECK(turn(clock, at(2009)) == Dues{Due::kAttention});
  CHECK(turn(clock, at(2010)) == Dues{Due::kPatience});
}

TEST_CASE("run clock: while files are read no deadline holds, and then pid 1 has to wipe",
          "[run_clock]") {
  RunClock clock =
      running({.wall = seconds(1), .cpu = seconds(1), .is_watched = true, .may_stand_back = true});
  turn(clock, at(2));
  CHECK(clock.may_hold());
  clock.hold();
  CHECK_FALSE(clock.may_hold());
  CHECK_FALSE(clock.heeds_watch());
  CHECK_FALSE(clock.is_doomed());
  CHECK(clock.next() == RunClock::kNever);
  CHECK_FALSE(clock.forks());
  clock.release(at(100'000));
  CHECK_FALSE(clock.may_hold());
  CHECK(turn(clock, at(129'999)).empty());
  CHECK(turn(clock, at(130'000)) == Dues{Due::kPatience});
}

TEST_CASE("run clock: a wish to cancel kills, is noted or comes too late", "[run_clock]") {
  RunClock clock = running();
  CHECK(clock.cancel() == RunClock::Cancel::kKill);
  clock.hold();
  CHECK(clock.cancel() == RunClock::Cancel::kNote);
  clock.release(at(10));
  CHECK(clock.cancel() == RunClock::Cancel::kKill);
  SECTION("a killed job") { clock.kill(at(11)); }
  SECTION("a run that is over") { clock.end(); }
  CHECK(clock.cancel() == RunClock::Cancel::kTooLate);
  CHECK(clock.is_doomed());
}

TEST_CASE("run clock: the watch looks as seldom as its looks are dear", "[run_clock]") {
  RunClock clock = running({.wall = seconds(10), .cpu = seconds(20), .is_watched = true});
  CHECK(turn(clock, at(10)) == Dues{Due::kAttention, Due::kWatch});
  CHECK(turn(clock, at(20)).empty());
  CHECK(clock.next() > at(9'000));  // none while one is on its way
  clock.watched(at(11), Nanoseconds(1));
  CHECK(clock.next() == at(21));
  clock.watched(at(11), milliseconds(3));
  CHECK(clock.next() == at(71));
  clock.watched(at(11), seconds(1));
  CHECK(clock.next() == at(211));
}

TEST_CASE("run clock: only who may stand back is asked, again and again", "[run_clock]") {
  CHECK(turn_of(running(), at(100)) == Dues{Due::kAttention});
  RunClock clock = running({.wall = seconds(10), .cpu = seconds(20), .may_stand_back = true});
  CHECK(turn(clock, at(20)) == Dues{Due::kAttention, Due::kStanding});
  CHECK(clock.stands_back(at(20), milliseconds(20), 1));
  CHECK(clock.next() == at(20) + Standing::kPeriod);
  CHECK_FALSE(clock.stands_back(at(70), milliseconds(20), 1));  // it counts from its own begin
}

TEST_CASE("run clock: bearings are taken once, early, and of no job that has been killed",
          "[run_clock]") {
  RunClock clock = running(), brief = running({.wall = milliseconds(8), .cpu = seconds(5)});
  CHECK_FALSE(takes_bearings(clock, at(19)));
  CHECK(takes_bearings(clock, at(20)));
  CHECK_FALSE(takes_bearings(clock, at(5000)));
  CHECK(takes_bearings(brief, at(2)));
  RunClock killed = running();
  killed.kill(at(10));
  CHECK_FALSE(takes_bearings(killed, at(20)));
}
