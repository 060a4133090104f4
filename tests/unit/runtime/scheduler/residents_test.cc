// Tests of steps that go on in the process of the step before, on a fake machine.

#include "runtime/scheduler/residents.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "runtime/job/live_io.h"
#include "tests/unit/runtime/scheduler/sessions.h"

namespace runtime {
namespace {

using fake::FakeCell;

struct WithResident : fake::Sessions {
  WithResident() {
    submit(step("one", ""));
    ready_template();
    ready_cell();
    node = stay(running("one"));
  }
  // The step ends well, and its process stays; the node that it has left.
  std::string stay(FakeCell& cell) {
    RunResult result;
    result.ran = true;
    result.testimony.kind = Testimony::Kind::kFinished;
    auto state = std::make_shared<NodeState>();
    state->bytes = ++states;
    result.state = std::move(state);
    const std::string id = cell.job;
    cell.stay(std::move(result));
    turn();
    return client.answers.at(id).back().step->node;
  }
  CellHandle::State state() const { return machine.cells.front()->state(); }

  std::string node;
  uint64_t states = 0;
};
using State = CellHandle::State;
const sys::Nanoseconds kPatience = SchedulerPlan().steps_stay;

}  // namespace

TEST_CASE("a step goes on in the process of its node", "[residents]") {
  WithResident bench;
  REQUIRE(bench.state() == State::kOccupied);
  bench.submit(bench.step("two", bench.node));
  CHECK(bench.running("two").went_on);
  const std::string next = bench.stay(bench.running("two"));
  bench.submit(bench.step("three", next));
  CHECK(bench.running("three").went_on);
  CHECK(bench.machine.cells.size() == 1);
}

TEST_CASE("a step that would find another process than a new one has its own", "[residents]") {
  WithResident bench;
  Job other = bench.step("two", bench.node);
  SECTION("other limits") { other.limits.cpu += sys::Milliseconds(1); }
  SECTION("a request that is too long to be told") { other.source = std::string(9000, '#'); }
  SECTION("an input") { other.stdin_bytes = "text"; }
  SECTION("an output that somebody follows") {
    other.live = LiveIo::create([] {}).value();
  }
  bench.submit(std::move(other));
  bench.ready_cell();
  CHECK_FALSE(bench.running("two").went_on);
  CHECK(bench.state() == State::kOccupied);
}

TEST_CASE("a step at another node has its own process, and the first stays", "[residents]") {
  WithResident bench;
  bench.submit(bench.step("two", bench.node));
  const std::string next = bench.stay(bench.running("two"));
  bench.submit(bench.step("branch", bench.node));
  bench.ready_cell();
  CHECK_FALSE(bench.running("branch").went_on);
  CHECK_FALSE(bench.running("branch").may_stay);  // the second at its node
  CHECK(bench.state() == State::kOccupied);
  bench.submit(bench.step("three", next));
  CHECK(bench.running("three").went_on);
}

TEST_CASE("a cell that is not as before when its process has ended is lost", "[residents]") {
  WithResident bench;
  bench.pass(kPatience);
  REQUIRE(bench.state() == State::kStarting);
  bench.machine.cells.front()->die();
  bench.turn();
  bench.submit(bench.step("two", bench.node));
  bench.ready_cell();
  bench.end(bench.running("two"));
  CHECK(bench.label("two") == "OK");
}

TEST_CASE("a process stays for a while, and so do only so many", "[residents]") {
  WithResident bench;
  SECTION("until nobody has come for it") {
    bench.pass(kPatience / 2);
    CHECK(bench.state() == State::kOccupied);
    bench.pass(kPatience / 2);
    CHECK(bench.state() == State::kStarting);
    bench.machine.cells.front()->become_ready();
    bench.submit(bench.step("two", bench.node));
    CHECK_FALSE(bench.running("two").went_on);
  }
  SECTION("a younger one has its own time") {
    bench.pass(kPatience / 2);
    bench.submit(bench.step("two", bench.node));
    bench.stay(bench.running("two"));
    bench.pass(kPatience / 2);
    CHECK(bench.state() == State::kOccupied);
    bench.pass(kPatience / 2);
    CHECK(bench.state() == State::kStarting);
  }
  SECTION("as many as jobs run at once") {
    for (const char* id : {"a", "b"}) {
      bench.pass(sys::Milliseconds(1));
      bench.submit(bench.step(id, ""));
      bench.ready_cell();
      bench.stay(bench.running(id));
    }
    CHECK(std::count_if(bench.machine.cells.begin(), bench.machine.cells.end(),
                        [](const FakeCell* cell) { return cell->state() == State::kOccupied; }) ==
          2);
    CHECK(bench.machine.cells.back()->state() == State::kOccupied);
  }
}

TEST_CASE("no process stays where none is to", "[residents]") {
  fake::Sessions bench(sys::Nanoseconds(0));
  bench.submit(bench.step("one", ""));
  bench.ready_template();
  bench.ready_cell();
  CHECK_FALSE(bench.running("one").may_stay);
  bench.submit(bench.step("two", bench.end(bench.running("one"))));
  CHECK_FALSE(bench.running("two").may_stay);
}

TEST_CASE("the process of a step that has left no node does not stay", "[residents]") {
  WithResident bench;
  bench.submit(bench.step("two", bench.node));
  RunResult late;
  late.ran = true;
  late.evidence.deadline = DeadlineKind::kWall;
  late.state = std::make_shared<NodeState>();
  bench.running("two").stay(std::move(late));
  bench.turn();
  CHECK(bench.label("two") == "TimeoutException");
  CHECK(bench.state() == State::kStarting);
}

TEST_CASE("a process that was killed while it stayed costs the step nothing", "[residents]") {
  WithResident bench;
  bench.submit(bench.step("two", bench.node));
  bench.running("two").finish_with({shim::Step::kRestore, ESRCH, "ended"}, false);
  bench.turn();
  CHECK_FALSE(bench.running("two").went_on);
  CHECK(bench.running("two").may_stay);  // the first there, as before
  bench.end(bench.running("two"));
  CHECK(bench.label("two") == "OK");
}

TEST_CASE("occupied cells end where idle ones do", "[residents]") {
  WithResident bench;
  SECTION("with the service") {
    bench.scheduler.stop();
    bench.turn();
    CHECK(bench.machine.cells.front()->is_ended());
  }
  SECTION("for others that need the room") {
    bench.scheduler.ask_back();
    bench.turn();
    CHECK(bench.machine.cells.front()->is_ended());
  }
  SECTION("with their template") {
    bench.machine.templates.front()->die();
    bench.machine.cells.front()->die();
    bench.turn();
    CHECK(bench.machine.cells.front()->is_ended());
  }
}

}  // namespace runtime
