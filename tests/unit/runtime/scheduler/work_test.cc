// Builds, conversations and comparisons: work of several runs.

#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "tests/unit/runtime/scheduler/bench.h"

namespace runtime {
namespace {

using namespace std::chrono_literals;
using fake::Bench;
using fake::OtherScheduler;
using fake::withdrawable;

TEST_CASE("a program that many want is compiled once", "[scheduler]") {
  Bench bench;
  bench.submit(Bench::job("a", "c"));
  bench.submit(Bench::job("b", "c"));
  bench.ready_template();
  fake::FakeCell& compiler = bench.ready_cell();
  CHECK(compiler.builds);
  CHECK(bench.machine.cells_made == 1);
  CHECK(bench.scheduler.load() == 1);  // who waits has no worker
  compiler.finish_well();
  bench.machine.come_back();
  bench.turn();
  CHECK(bench.machine.cells_made == 3);
  for (fake::FakeCell* cell : std::list(bench.machine.cells)) {
    if (cell->state() == CellHandle::State::kStarting) cell->become_ready();
  }
  for (fake::FakeCell* cell : std::list(bench.machine.cells)) {
    if (cell->state() == CellHandle::State::kRunning) cell->finish_well();
  }
  CHECK(bench.label("a") == "OK");
  CHECK(bench.label("b") == "OK");
  CHECK_FALSE(bench.client.answers["a"].front().compile->cached);
  CHECK(bench.client.answers["b"].front().compile->cached);
}

TEST_CASE("what a compiler says no to, it says to all who wait", "[scheduler]") {
  Bench bench;
  bench.submit(Bench::job("a", "c"));
  bench.submit(Bench::job("b", "c"));
  bench.ready_template();
  RunResult said_no;
  said_no.ran = true;
  said_no.testimony.kind = Testimony::Kind::kExited;
  said_no.evidence.exit.code = 1;
  bench.ready_cell().finish(std::move(said_no));
  CHECK(bench.label("a") == "CompilationError");
  CHECK(bench.label("b") == "CompilationError");
}

TEST_CASE("a builder that withdraws leaves the build to who waits for it", "[scheduler]") {
  Bench bench;
  Job builder = withdrawable("a", "c");
  const std::shared_ptr<JobWatch> watch = builder.watch;
  bench.submit(std::move(builder));
  bench.submit(Bench::job("b", "c"));
  CHECK(bench.scheduler.load() == 1);
  watch->withdrawn = true;
  bench.scheduler.cancel_withdrawn();  // before there is a cell to compile in
  bench.turn();
  CHECK(bench.label("a") == "Cancelled");
  bench.ready_template();
  fake::FakeCell& compiler = bench.ready_cell();
  CHECK(compiler.job == "b");
  compiler.finish_well();
  bench.machine.come_back();
  bench.turn();
  bench.ready_cell().finish_well();
  CHECK(bench.label("b") == "OK");
}

TEST_CASE("the sides of a conversation begin together", "[scheduler]") {
  Bench bench;
  const auto pair = InteractivePair::create().value();
  Job program = Bench::job("program"), interactor = Bench::job("interactor");
  program.pairing = interactor.pairing = pair;
  interactor.side = InteractivePair::Side::kInteractor;
  bench.admission.put_both(bench.client.task(program, bench.machine.time),
                           bench.client.task(interactor, bench.machine.time));
  bench.scheduler.turn();
  bench.ready_template();
  fake::FakeCell *first = bench.machine.cells.front(), *second = bench.machine.cells.back();
  first->become_ready();
  CHECK(first->state() == CellHandle::State::kIdle);
  SECTION("when both have a cell") { second->become_ready(); }
  SECTION("also when one has lost its cell meanwhile") {
    first->die();
    bench.turn();
    second->become_ready();
    CHECK(second->state() == CellHandle::State::kIdle);
    for (fake::FakeCell* cell : bench.machine.cells) {
      if (!cell->is_ended() && cell != second) first = cell;
    }
    first->become_ready();
  }
  bench.turn();
  CHECK(first->state() == CellHandle::State::kRunning);
  CHECK(second->state() == CellHandle::State::kRunning);
  first->finish_well();
  second->finish_well();
  CHECK(bench.label("program") == "OK");
  CHECK(bench.label("interactor") == "OK");
}

TEST_CASE("a side whose other side cannot start is told so", "[scheduler]") {
  Bench bench;
  const auto pair = InteractivePair::create().value();
  Job program = Bench::job("program"), interactor = Bench::job("interactor", "fortran");
  program.pairing = interactor.pairing = pair;
  interactor.side = InteractivePair::Side::kInteractor;
  bench.admission.put_both(bench.client.task(program, bench.machine.time),
                           bench.client.task(interactor, bench.machine.time));
  bench.scheduler.turn();
  CHECK(bench.label("interactor") == "BadJob");
  bench.ready_template();
  bench.ready_cell();
  CHECK(bench.label("program") == "SandboxError");
  CHECK(bench.scheduler.load() == 0);
}

// In a pool that narrow, work is otherwise left to those who have templates.
TEST_CASE("a side for which there is no room here is left to whoever has room", "[scheduler]") {
  Bench bench(1);
  OtherScheduler other;
  other.warm = false;
  bench.scheduler.set_peers({&other});
  const auto pair = InteractivePair::create().value();
  Job program = Bench::job("program"), interactor = Bench::job("interactor");
  program.pairing = interactor.pairing = pair;
  interactor.side = InteractivePair::Side::kInteractor;
  bench.admission.put_both(bench.client.task(program, bench.machine.time),
                           bench.client.task(interactor, bench.machine.time));
  bench.scheduler.turn();
  CHECK(bench.scheduler.load() == 1);
  CHECK(other.woken == 1);
}

TEST_CASE("two runs that differ are told apart, each under its own template", "[scheduler]") {
  Bench bench(1);
  Job job = Bench::job("a");
  job.determinism_runs = 2;
  bench.submit(std::move(job));
  bench.ready_template();
  bench.ready_cell().finish_well("one");
  REQUIRE(bench.machine.templates.size() == 2);
  bench.ready_template();
  bench.ready_cell().finish_well("two");
  CHECK(bench.label("a") == "NonDeterministicCode");
}

TEST_CASE("two runs in fixed mode share a template of their own, and no early cell of it",
          "[scheduler]") {
  Bench bench(1);
  bench.catalogue.early_cells = true;
  Job job = Bench::job("a");
  job.determinism_runs = 2;
  job.fixed.on = true;
  job.fixed.seed = 7;
  bench.submit(std::move(job));
  CHECK(bench.machine.cells_made == 0);
  bench.ready_template();
  bench.ready_cell().finish_well("one");
  bench.turn();
  REQUIRE(bench.machine.variants.size() == 1);
  CHECK(bench.machine.variants[0].fixed);
  bench.machine.cells.front()->finish_well("one");
  CHECK(bench.label("a") == "OK");
  CHECK(bench.client.answers["a"].front().determinism->seed == 7);
}

TEST_CASE("fixed mode is refused to who starts programs, where none can have it", "[scheduler]") {
  Bench bench(1);
  bench.catalogue.fixed_objection = "/a b/l.so";
  Job refused = Bench::job("refused"), warm = Bench::job("warm");
  refused.fixed.on = warm.fixed.on = true;
  refused.policy.profile = sandbox::Profile::kSubprocess;
  bench.submit(std::move(refused));
  CHECK(bench.label("refused") == "SandboxError");
  CHECK(bench.machine.templates.empty());
  bench.submit(std::move(warm));
  CHECK(bench.machine.templates.size() == 1);
}

// The shard had stood still here: a job came back, and nobody looked at the queue.
TEST_CASE("who comes back from beside the loop makes room for the next", "[scheduler]") {
  Bench bench(1);
  Job job = Bench::job("long");
  job.determinism_runs = 2;
  bench.submit(std::move(job));
  bench.ready_template();
  const std::string text(Machine::kShort + 1, 'x');
  bench.ready_cell().finish_well(text);
  bench.ready_template();
  bench.ready_cell().finish_well(text);
  bench.submit(Bench::job("next"));
  CHECK(bench.scheduler.load() == 1);
  bench.machine.come_back();  // compared
  bench.turn();
  CHECK(bench.machine.cells.front()->job == "next");
  bench.machine.come_back();  // delivered
  CHECK(bench.label("long") == "OK");
}

}  // namespace
}  // namespace runtime
