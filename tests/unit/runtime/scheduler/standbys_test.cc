// Tests of processes that are put to a node before a step asks for one there, on a fake machine.

#include "runtime/scheduler/standbys.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "tests/unit/runtime/scheduler/sessions.h"

namespace runtime {
namespace {

using fake::FakeCell;
using State = CellHandle::State;

struct WithNode : fake::Sessions {
  using Sessions::Sessions;

  // A step at the node comes and goes; the node that it leaves.
  std::string branch(const std::string& id) {
    submit(step(id, node));
    if (is_starting()) ready_cell();
    return end(running(id));
  }
  // It comes to its limit.
  void fail(FakeCell& cell) {
    RunResult late;
    late.ran = true;
    late.evidence.deadline = DeadlineKind::kWall;
    cell.finish(std::move(late));
    turn();
  }
  bool is_starting() const { return machine.cells.back()->state() == State::kStarting; }
  FakeCell* standing_by() const {
    for (FakeCell* cell : machine.cells) {
      if (cell->state() == State::kRunning && cell->stands_by) return cell;
    }
    return nullptr;
  }
  FakeCell& stand() {
    REQUIRE(standing_by());
    FakeCell& cell = *standing_by();
    cell.stand();
    turn();
    return cell;
  }
  size_t occupied() const {
    return static_cast<size_t>(
        std::count_if(machine.cells.begin(), machine.cells.end(),
                      [](const FakeCell* cell) { return cell->state() == State::kOccupied; }));
  }

  const std::string node = first("one");
};

// Another process at its node would be welcome.
struct WithBranches : WithNode {
  WithBranches() {
    branch("two");
    branch("three");
  }
};

}  // namespace

TEST_CASE("where steps have branched off a process stands by for the next", "[standbys]") {
  WithBranches bench;
  CHECK_FALSE(bench.standing_by());
  bench.pass(Standbys::kCalm);
  bench.stand();
  bench.submit(bench.step("four", bench.node));
  CHECK(bench.running("four").went_on);
  CHECK_FALSE(bench.running("four").may_stay);
  CHECK(bench.scheduler.steps_stood_by() == 1);
  CHECK(bench.scheduler.steps_gone_on() == 0);
  bench.end(bench.running("four"));
  bench.pass(Standbys::kCalm);
  CHECK(bench.standing_by());
}

TEST_CASE("no process stands by where steps follow one after another", "[standbys]") {
  WithNode bench;
  std::string last = bench.node;
  for (const char* id : {"two", "three", "four"}) {
    bench.submit(bench.step(id, last));
    last = bench.end(bench.running(id));
    bench.pass(Standbys::kCalm);
    CHECK_FALSE(bench.standing_by());
  }
}

TEST_CASE("where a step has left nothing a process stands by for another", "[standbys]") {
  WithNode bench;
  bench.submit(bench.step("two", bench.node));
  bench.fail(bench.running("two"));
  bench.pass(Standbys::kCalm);
  bench.stand();
  bench.submit(bench.step("three", bench.node));
  CHECK(bench.running("three").went_on);
  CHECK(bench.running("three").may_stay);  // the first that leaves one
}

TEST_CASE("before a step comes to its limit a process is put to its node", "[standbys]") {
  WithNode bench;
  bench.submit(bench.step("two", bench.node));
  bench.pass(Limits().cpu - 2 * Standbys::kLead);
  CHECK_FALSE(bench.is_starting());
  bench.pass(Standbys::kLead);
  REQUIRE(bench.is_starting());
  bench.ready_cell();
  bench.stand();
  bench.fail(bench.running("two"));
  bench.submit(bench.step("three", bench.node));
  CHECK(bench.running("three").went_on);
}

TEST_CASE("nobody waits for a cell to start while another is idle", "[standbys]") {
  WithNode bench;
  bench.submit(bench.step("two", bench.node));
  bench.pass(Limits().cpu - Standbys::kLead);
  REQUIRE(bench.is_starting());
  bench.fail(bench.running("two"));
  bench.submit(bench.step("three", bench.node));
  CHECK_FALSE(bench.running("three").went_on);
}

TEST_CASE("no process stands by for the limit of a run that is over", "[standbys]") {
  WithNode bench;
  Job two = bench.step("two", bench.node);
  two.watch = std::make_shared<JobWatch>();
  const auto watch = two.watch;
  bench.submit(std::move(two));
  bench.running("two").finish_with({shim::Step::kRestore, ENOMEM, "no room"}, false);
  watch->withdrawn = true;  // while it waits for room
  bench.scheduler.cancel_withdrawn();
  bench.turn();
  REQUIRE(bench.label("two") == "Cancelled");
  bench.pass(Limits().cpu / 2);
  while (bench.capacity.enter(bench.machine.time)) continue;
  for (int times = 0; times < 2; ++times) bench.capacity.leave();
  REQUIRE_FALSE(bench.capacity.is_narrow());
  const size_t cells = bench.machine.cells.size();
  bench.pass(Limits().cpu / 2);
  CHECK_FALSE(bench.standing_by());
  CHECK(bench.machine.cells.size() == cells);
}

TEST_CASE("a process that may come to stand by holds no node", "[standbys]") {
  WithBranches bench;
  std::shared_ptr<const Node> node = bench.nodes->find(bench.node, "", bench.machine.time).value();
  constexpr long kOursAndTheStores = 2;
  CHECK(node.use_count() == kOursAndTheStores);
  SECTION("and is put to it where that is still there") {
    bench.pass(Standbys::kCalm);
    CHECK(bench.standing_by());
    CHECK(node.use_count() > kOursAndTheStores);
  }
  SECTION("and not where it has gone") {
    node.reset();
    REQUIRE(bench.nodes->forget(bench.node, ""));
    bench.pass(Standbys::kCalm);
    CHECK_FALSE(bench.standing_by());
  }
}

TEST_CASE("who comes while the process is put to the node waits for it", "[standbys]") {
  WithBranches bench;
  bench.pass(Standbys::kCalm);
  REQUIRE(bench.standing_by());
  const size_t cells = bench.machine.cells.size();
  bench.submit(bench.step("four", bench.node));
  CHECK(bench.machine.cells.size() == cells);
  SECTION("and has it") {
    bench.stand();
    CHECK(bench.running("four").went_on);
  }
  SECTION("and has another where it fails") {
    bench.standing_by()->finish_with({shim::Step::kRestore, ENOMEM, "no room"}, false);
    bench.turn();
    bench.ready_cell();
    CHECK_FALSE(bench.running("four").went_on);
  }
  SECTION("or where its cell is lost") {
    bench.standing_by()->die();
    bench.turn();
    REQUIRE(bench.is_starting());
    bench.ready_cell();
    CHECK_FALSE(bench.running("four").went_on);
  }
  SECTION("and a second one has its own") {
    bench.submit(bench.step("five", bench.node));
    REQUIRE(bench.is_starting());
    bench.ready_cell();
    CHECK_FALSE(bench.running("five").went_on);
    bench.stand();
    CHECK(bench.running("four").went_on);
  }
  SECTION("until all is cancelled") {
    bench.scheduler.cancel();
    bench.turn();
    CHECK(bench.label("four") == "Cancelled");
    bench.standing_by()->finish({});
    bench.turn();
  }
  SECTION("until the service ends") {
    bench.scheduler.stop();
    bench.turn();
    CHECK(bench.label("four") == "Cancelled");
    bench.standing_by()->finish({});
    bench.turn();
    for (FakeCell* cell : bench.machine.cells) CHECK(cell->is_ended());
    return;
  }
  if (bench.label("four").empty()) bench.end(bench.running("four"));
  CHECK_FALSE(bench.label("four").empty());
  CHECK(bench.scheduler.load() == (bench.client.answers.contains("five") ? 1 : 0));
}

TEST_CASE("a cell in which the process cannot stay is replaced once", "[standbys]") {
  WithBranches bench;
  bench.pass(Standbys::kCalm);
  FakeCell& first = *bench.standing_by();
  first.finish({});
  bench.turn();
  CHECK(first.is_ended());
  REQUIRE(bench.is_starting());
  bench.ready_cell();
  SECTION("and it stays in the other") {
    bench.stand();
    CHECK(bench.occupied() == 1);
  }
  SECTION("or in none") {
    bench.standing_by()->finish({});
    bench.turn();
    CHECK_FALSE(bench.standing_by());
    bench.branch("four");
    bench.pass(Standbys::kCalm);
    CHECK_FALSE(bench.standing_by());
  }
}

TEST_CASE("a node where no process has stayed twice has none any more", "[standbys]") {
  WithBranches bench;
  for (const char* id : {"four", "five"}) {
    bench.pass(Standbys::kCalm);
    REQUIRE(bench.standing_by());
    bench.submit(bench.step(id, bench.node));
    bench.standing_by()->finish({});
    bench.turn();
    if (bench.is_starting()) bench.ready_cell();
    bench.end(bench.running(id));
  }
  bench.pass(Standbys::kCalm);
  CHECK_FALSE(bench.standing_by());
  CHECK_FALSE(bench.is_starting());
}

TEST_CASE("a process that stands by is not given up for another node's", "[standbys]") {
  WithBranches bench;
  bench.pass(Standbys::kCalm);
  bench.stand();
  const std::string other = bench.first("other");
  for (const char* id : {"a", "b"}) {
    bench.submit(bench.step(id, other));
    if (bench.is_starting()) bench.ready_cell();
    bench.end(bench.running(id));
  }
  bench.pass(Standbys::kCalm);
  CHECK(bench.standing_by());  // there are two workers
  bench.stand();
  const std::string third = bench.first("third");
  for (const char* id : {"c", "d"}) {
    bench.submit(bench.step(id, third));
    if (bench.is_starting()) bench.ready_cell();
    bench.end(bench.running(id));
  }
  bench.pass(Standbys::kCalm);
  CHECK_FALSE(bench.standing_by());
  bench.submit(bench.step("four", bench.node));
  CHECK(bench.running("four").went_on);
}

TEST_CASE("a process with other limits at the node is none for the step", "[standbys]") {
  WithBranches bench;
  bench.pass(Standbys::kCalm);
  bench.stand();
  for (const char* id : {"a", "b"}) {
    Job step = bench.step(id, bench.node);
    step.limits.memory.count += 1;
    bench.submit(std::move(step));
    if (bench.is_starting()) bench.ready_cell();
    bench.end(bench.running(id));
  }
  bench.pass(Standbys::kCalm);
  CHECK(bench.standing_by());
}

TEST_CASE("who is withdrawn while it waits for such a process is answered", "[standbys]") {
  WithBranches bench;
  bench.pass(Standbys::kCalm);
  Job four = bench.step("four", bench.node);
  four.watch = std::make_shared<JobWatch>();
  const auto watch = four.watch;
  bench.submit(std::move(four));
  watch->withdrawn = true;
  bench.scheduler.cancel_withdrawn();
  bench.turn();
  CHECK(bench.label("four") == "Cancelled");
  bench.stand();
  CHECK(bench.occupied() == 1);
}

TEST_CASE("no process stands by where there is no room for all jobs", "[standbys]") {
  WithBranches bench;
  bench.capacity.enter_anyway();
  bench.capacity.shrink("fork", ENOMEM, bench.machine.time);
  bench.capacity.leave();
  REQUIRE(bench.capacity.is_narrow());
  bench.pass(Standbys::kCalm);
  CHECK_FALSE(bench.standing_by());
  CHECK_FALSE(bench.is_starting());
}

TEST_CASE("a process stands by when nothing else is to be done", "[standbys]") {
  WithBranches bench;
  bench.submit(bench.job("a job"));
  bench.ready_cell();
  SECTION("and nobody's job has just begun") {
    bench.pass(Standbys::kCalm / 2);
    bench.running("a job").finish_well();
    bench.turn();
    bench.submit(bench.job("another"));
    bench.pass(Standbys::kCalm);
    bench.pass(Standbys::kCalm);
    CHECK_FALSE(bench.standing_by());
    bench.running("another").finish_well();
    bench.turn();
    bench.pass(Standbys::kCalm);
    CHECK(bench.standing_by());
  }
  SECTION("or not at all, where there is no such time") {
    bench.submit(bench.job("a job beside it"));
    if (bench.is_starting()) bench.ready_cell();
    for (const char* id : {"a", "b", "c"}) bench.submit(bench.job(id));
    for (auto waited = sys::Nanoseconds(0); waited <= 2 * Standbys::kPatience;
         waited += Standbys::kCalm)
      bench.pass(Standbys::kCalm);
    for (FakeCell* cell : bench.machine.cells) {
      while (cell->state() == State::kRunning) {
        cell->finish_well();
        bench.turn();
      }
    }
    bench.pass(Standbys::kCalm);
    CHECK_FALSE(bench.standing_by());
  }
}

TEST_CASE("a process that stands by is one for the next step's limits", "[standbys]") {
  WithBranches bench;
  bench.pass(Standbys::kCalm);
  bench.stand();
  Job next = bench.step("four", bench.node);
  SECTION("but for the time, which is ours to watch") {
    next.limits.wall += sys::Milliseconds(1);
    bench.submit(std::move(next));
    CHECK(bench.running("four").went_on);
  }
  SECTION("of memory") {
    next.limits.memory.count += 1;
    bench.submit(std::move(next));
    bench.ready_cell();
    CHECK_FALSE(bench.running("four").went_on);
  }
}

TEST_CASE("a process stands by for a while, and so do only so many", "[standbys]") {
  WithBranches bench;
  bench.pass(Standbys::kCalm);
  FakeCell& first = bench.stand();
  SECTION("until nobody has come for it") {
    bench.pass(SchedulerPlan().steps_stay);
    CHECK(first.state() == State::kStarting);
  }
  SECTION("beside those of steps that are over") {
    std::vector<std::string> others;
    for (const char* id : {"a", "b"}) {
      bench.submit(bench.step(id, ""));
      if (bench.is_starting()) bench.ready_cell();
      RunResult result;
      result.ran = true;
      result.testimony.kind = Testimony::Kind::kFinished;
      auto state = std::make_shared<NodeState>();
      state->bytes = 4096;
      result.state = std::move(state);
      bench.running(id).stay(std::move(result));
      bench.turn();
    }
    CHECK(bench.occupied() == 3);
    CHECK(first.state() == State::kOccupied);
  }
}

TEST_CASE("no process stands by where none may stay", "[standbys]") {
  WithNode bench(sys::Nanoseconds(0));
  bench.branch("two");
  bench.branch("three");
  bench.pass(Standbys::kCalm);
  CHECK_FALSE(bench.standing_by());
}

TEST_CASE("no process stands by where no cell lets it stay", "[standbys]") {
  WithBranches bench;
  for (FakeCell* cell : bench.machine.cells) cell->may_occupy = false;
  bench.pass(Standbys::kCalm);
  CHECK_FALSE(bench.standing_by());
  bench.branch("four");
  for (FakeCell* cell : bench.machine.cells) cell->may_occupy = true;
  bench.pass(Standbys::kCalm);
  CHECK_FALSE(bench.standing_by());
}

TEST_CASE("no process stands by for a step that could not go on in it", "[standbys]") {
  WithNode bench;
  const bool has_input = GENERATE(false, true);
  for (const char* id : {"two", "three"}) {
    Job step = bench.step(id, bench.node);
    step.keep = has_input;
    if (has_input) step.stdin_bytes = "text";
    bench.submit(std::move(step));
    bench.end(bench.running(id));
  }
  bench.pass(Standbys::kCalm);
  CHECK_FALSE(bench.standing_by());
}

}  // namespace runtime
