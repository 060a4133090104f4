#include "runtime/cell/rules/cell_life.h"

#include <catch2/catch.hpp>

using runtime::CellLife;
using Birth = CellLife::Birth;
using Loss = CellLife::Loss;
using State = CellLife::State;
using Timer = CellLife::Timer;

namespace {

CellLife idle() {
  CellLife life;
  REQUIRE(life.on_born(true) == Birth::kBorn);
  REQUIRE(life.on_ready());
  REQUIRE(life.completes());
  return life;
}

CellLife::Leftovers little() { return {.clean = true}; }

}  // namespace

TEST_CASE("cell life: a cell is idle when two messages have come, in either order", "[cell_life]") {
  CellLife life;
  CHECK(life.state() == State::kStarting);
  SECTION("its birth first") {
    CHECK(life.on_born(true) == Birth::kBorn);
    CHECK_FALSE(life.completes());
    CHECK(life.on_ready());
  }
  SECTION("its own word first") {
    CHECK(life.on_ready());
    CHECK_FALSE(life.completes());
    CHECK(life.on_born(true) == Birth::kBorn);
  }
  CHECK(life.completes());
  CHECK(life.state() == State::kIdle);
  CHECK_FALSE(life.completes());
}

TEST_CASE("cell life: a birth may fail, or come when nobody wants it any more", "[cell_life]") {
  CellLife life;
  CHECK(life.on_born(false) == Birth::kFailed);
  CHECK(life.lose() == Loss::kOfCell);
  CHECK(life.on_born(true) == Birth::kUnwanted);
  CHECK(life.on_born(false) == Birth::kUnwanted);
  CHECK(life.on_timer() == Timer::kNothing);  // there is no process to kill
}

TEST_CASE("cell life: a cell says once that it is ready, and only while it starts", "[cell_life]") {
  CellLife life;
  CHECK(life.on_ready());
  CHECK_FALSE(life.on_ready());
  life.lose();
  CHECK_FALSE(life.on_ready());
  CellLife dead;
  dead.end();
  CHECK_FALSE(dead.on_ready());
}

TEST_CASE("cell life: of a cell that hangs up before it is born the template speaks",
          "[cell_life]") {
  CellLife life;
  CHECK(life.waits_for_its_template());
  CHECK(life.on_born(true) == Birth::kBorn);
  CHECK_FALSE(life.waits_for_its_template());
  CellLife dead;
  dead.end();
  CHECK_FALSE(dead.waits_for_its_template());
}

TEST_CASE("cell life: the timer means something else in each state", "[cell_life]") {
  CHECK(CellLife().on_timer() == Timer::kTooLate);
  CellLife life = idle();
  CHECK(life.on_timer() == Timer::kNothing);
  life.begin_run();
  CHECK(life.on_timer() == Timer::kRun);
  life.end();
  CHECK(life.on_timer() == Timer::kKill);
}

TEST_CASE("cell life: a message counts for the run that it names, while it runs", "[cell_life]") {
  CellLife life = idle();
  CHECK_FALSE(life.heeds(true));
  life.begin_run();
  CHECK(life.heeds(true));
  CHECK_FALSE(life.heeds(false));
  life.finish_run(true);
  CHECK_FALSE(life.heeds(true));
}

TEST_CASE("cell life: a cell serves again if it is clean, and is lost once", "[cell_life]") {
  CellLife life = idle();
  CHECK(life.is_fresh());
  life.begin_run();
  CHECK_FALSE(life.is_fresh());
  life.finish_run(true);
  CHECK(life.state() == State::kIdle);
  life.begin_run();
  SECTION("it is not clean") { life.finish_run(false); }
  SECTION("it ends with its job") {
    CHECK(life.lose() == Loss::kOfRun);
    life.finish_run(true);
  }
  SECTION("it is ended while its job runs") {
    life.end();
    life.finish_run(true);
  }
  CHECK(life.state() == State::kDead);
  CHECK(life.lose() == Loss::kKnown);
}

TEST_CASE("cell life: a cell without a job dies alone", "[cell_life]") {
  CellLife life = idle();
  CHECK(life.lose() == Loss::kOfCell);
}

TEST_CASE("cell life: a cell is worn by what a job did or left", "[cell_life]") {
  CellLife life = idle();
  life.begin_run();
  CellLife::Leftovers left = little();
  left.memory = CellLife::kMemoryLeftBehind;
  life.judge(left);
  REQUIRE_FALSE(life.is_worn());
  SECTION("it is not clean") { left.clean = false; }
  SECTION("it met its limit of memory") { left.oom_kills = 1; }
  SECTION("it left memory behind") { ++left.memory.count; }
  life.judge(left);
  CHECK(life.is_worn());
  life.judge(little());
  CHECK(life.is_worn());  // for good
}

TEST_CASE("cell life: a cell is worn by its jobs and by a refusal", "[cell_life]") {
  CellLife life = idle();
  for (uint64_t job = 1; job < CellLife::kMostJobs; ++job) {
    life.begin_run();
    life.finish_run(true);
  }
  life.judge(little());
  CHECK_FALSE(life.is_worn());
  life.begin_run();
  life.judge(little());
  CHECK(life.is_worn());

  CellLife other = idle();
  other.wear_out();
  CHECK(other.is_worn());
}

TEST_CASE("cell life: the process of a job stays in a cell that would serve again", "[cell_life]") {
  CellLife life = idle();
  life.begin_run();
  SECTION("it would") {
    life.finish_run(true);
    life.stay();
    CHECK(life.state() == State::kOccupied);
    CHECK(life.on_timer() == Timer::kNothing);
    CHECK_FALSE(life.heeds(true));
    life.begin_run();
    CHECK(life.heeds(true));
  }
  SECTION("it would not") {
    life.finish_run(false);
    life.stay();
    CHECK(life.state() == State::kDead);
  }
}

TEST_CASE("cell life: a cell that is left is ready again, or lost", "[cell_life]") {
  CellLife life = idle();
  CHECK_FALSE(life.finish_vacating(true));  // nobody has asked
  life.begin_run();
  life.finish_run(true);
  life.stay();
  life.vacate();
  CHECK(life.state() == State::kStarting);
  CHECK(life.is_vacating());
  CHECK(life.on_timer() == Timer::kTooLate);
  SECTION("it is clean") {
    CHECK(life.finish_vacating(true));
    CHECK(life.state() == State::kIdle);
    CHECK_FALSE(life.is_vacating());
    CHECK_FALSE(life.finish_vacating(true));
  }
  SECTION("it is not") {
    CHECK_FALSE(life.finish_vacating(false));
    CHECK(life.lose() == Loss::kOfCell);
  }
  SECTION("it was ended meanwhile") {
    life.end();
    CHECK_FALSE(life.finish_vacating(true));
    CHECK(life.state() == State::kDead);
  }
}
