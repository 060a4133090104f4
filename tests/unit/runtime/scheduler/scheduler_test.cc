#include "runtime/scheduler/scheduler.h"

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

// The core was its own all the time.
void finish_busily(fake::FakeCell& cell) {
  RunResult result;
  result.ran = true;
  result.testimony.kind = Testimony::Kind::kFinished;
  result.usage.cpu_us = result.usage.wall_us = 100;
  cell.finish(std::move(result));
}

TEST_CASE("a job starts its template, gets a cell and is answered once", "[scheduler]") {
  Bench bench;
  fake::FakeCell& cell = bench.run("a");
  CHECK(cell.job == "a");
  CHECK(bench.label("a").empty());
  CHECK(bench.scheduler.load() == 1);
  cell.finish_well();
  CHECK(bench.label("a") == "OK");
  CHECK(bench.scheduler.load() == 0);
  CHECK(bench.scheduler.counts().forks == 1);
}

TEST_CASE("a clean cell serves the next job, a worn one makes room for another", "[scheduler]") {
  Bench bench;
  bench.run("a").finish_well();
  CHECK(&bench.run("b") == bench.machine.cells.front());
  CHECK(bench.machine.cells_made == 1);
  bench.machine.cells.front()->wear_out();
  bench.machine.cells.front()->finish_well();
  CHECK(bench.machine.cells.front()->is_ended());
  bench.run("c").finish_well();
  CHECK(bench.machine.cells_made == 2);
  CHECK(bench.label("c") == "OK");
}

TEST_CASE("a cell of another shape is no cell for a job", "[scheduler]") {
  Bench bench;
  bench.run("a").finish_well();
  Job other = Bench::job("b");
  other.limits.disk = sys::mebibytes(1);
  bench.submit(std::move(other));
  CHECK(bench.machine.cells_made == 2);
}

TEST_CASE("no more jobs run than the plan has room for", "[scheduler]") {
  Bench bench(1);
  fake::FakeCell& cell = bench.run("a");
  bench.submit(Bench::job("b"));
  CHECK(bench.scheduler.load() == 1);
  CHECK_FALSE(bench.admission.empty());
  cell.finish_well();  // and the next begins in its place
  CHECK(bench.admission.empty());
  CHECK(cell.job == "b");
}

TEST_CASE("who names an unknown template, or waited past its deadline, runs nothing",
          "[scheduler]") {
  Bench bench(1);
  bench.submit(Bench::job("unknown", "fortran"));
  CHECK(bench.label("unknown") == "BadJob");
  fake::FakeCell& cell = bench.run("first");
  Job late = Bench::job("late");
  late.deadline = 10ms;
  bench.submit(std::move(late));
  bench.machine.time += 11ms;
  cell.finish_well();
  CHECK(bench.label("late") == "Cancelled");
  CHECK(bench.scheduler.load() == 0);
}

TEST_CASE("a template is renewed after so many cells, beside the one that serves", "[scheduler]") {
  Bench bench;
  for (int i = 0; i < 199; ++i) {
    fake::FakeCell& cell = bench.run("job " + std::to_string(i));
    cell.wear_out();
    cell.finish_well();
    cell.vanish();
    bench.turn();
  }
  REQUIRE(bench.machine.templates.size() == 1);
  fake::FakeTemplate* old = bench.machine.templates.front();
  bench.submit(Bench::job("of the old one"));
  REQUIRE(bench.machine.templates.size() == 2);
  fake::FakeCell& last = bench.ready_cell();
  CHECK(last.parent == old);
  bench.ready_template();
  CHECK(bench.machine.templates.size() == 2);  // a cell of it runs
  last.finish_well();
  CHECK(last.is_ended());
  last.vanish();
  bench.turn();
  REQUIRE(bench.machine.templates.size() == 2);
  CHECK(old->is_ending());  // nothing waits for its end ...
  CHECK(bench.machine.dropped_alive == 0);
  old->die();
  bench.turn();
  CHECK(bench.machine.templates.size() == 1);  // ... and it goes when it has ended
  CHECK(bench.machine.templates.front() != old);
  bench.run("of the new one").finish_well();
  CHECK(bench.label("of the new one") == "OK");
}

TEST_CASE("an early cell serves until its template has its image", "[scheduler]") {
  Bench bench;
  bench.catalogue.early_cells = true;
  bench.submit(Bench::job("a"));
  bench.submit(Bench::job("b"));
  REQUIRE(bench.machine.cells.size() == 1);
  fake::FakeCell& early = bench.ready_cell();
  CHECK(early.job == "a");
  early.finish_well();
  CHECK(early.job == "b");
  bench.ready_template();
  early.finish_well();
  CHECK(early.is_ended());
  CHECK(bench.label("b") == "OK");
}

TEST_CASE("cancelling ends a job wherever it is, each once", "[scheduler]") {
  Bench bench(1);
  SECTION("in the queue and in a cell") {
    fake::FakeCell& cell = bench.run("a");
    bench.submit(Bench::job("b"));
    bench.scheduler.cancel();
    bench.turn();
    CHECK(bench.label("b") == "Cancelled");
    cell.finish_well();
  }
  SECTION("waiting for its template") {
    bench.submit(Bench::job("a"));
    bench.scheduler.cancel();
    bench.turn();
    bench.ready_template();
  }
  SECTION("waiting for its cell") {
    bench.submit(Bench::job("a"));
    bench.ready_template();
    bench.scheduler.cancel();
    bench.turn();
    bench.ready_cell();
  }
  CHECK(bench.label("a") == "Cancelled");
  CHECK(bench.scheduler.load() == 0);
}

TEST_CASE("who withdraws a job withdraws only that", "[scheduler]") {
  Bench bench;
  Job job = withdrawable("a");
  const std::shared_ptr<JobWatch> watch = job.watch;
  bench.submit(std::move(job));
  bench.submit(Bench::job("b"));
  watch->withdrawn = true;
  bench.scheduler.cancel_withdrawn();
  bench.turn();
  CHECK(bench.label("a") == "Cancelled");
  bench.ready_template();
  bench.ready_cell().finish_well();
  CHECK(bench.label("b") == "OK");
}

TEST_CASE("a tenant's template serves no other, and goes when nobody uses it", "[scheduler]") {
  Bench bench;
  Job job = Bench::job("a");
  job.tenant = "one";
  bench.submit(std::move(job));
  bench.ready_template();
  bench.ready_cell().finish_well();
  bench.submit(Bench::job("b"));
  CHECK(bench.machine.templates.size() == 2);
  CHECK(bench.scheduler.counts().tenant_templates == 1);
  bench.pass(6min);
  CHECK(bench.scheduler.counts().tenant_templates == 0);
  CHECK(bench.scheduler.counts().tenant_templates_dropped == 1);
}

TEST_CASE("a scheduler that is stopped ends what it has, and then says so", "[scheduler]") {
  Bench bench;
  fake::FakeCell& cell = bench.run("a");
  bench.scheduler.stop();
  bench.turn();
  CHECK_FALSE(bench.machine.is_finished);
  cell.finish_well();
  bench.turn();
  CHECK(bench.label("a") == "Cancelled");
  cell.vanish();
  bench.turn();
  CHECK(bench.machine.is_finished);
}

TEST_CASE("a task is left to a scheduler that has less to do", "[scheduler]") {
  Bench bench(4);
  OtherScheduler other;
  bench.scheduler.set_peers({&other});
  bench.run("a");
  bench.submit(Bench::job("b"));
  CHECK(other.woken == 1);
  CHECK_FALSE(bench.admission.empty());
  other.busy = 2;
  bench.scheduler.turn();
  CHECK(bench.admission.empty());
}

TEST_CASE("jobs that do not wait run one by one, unless one takes long", "[scheduler]") {
  Bench bench;
  finish_busily(bench.run("a"));
  fake::FakeCell& cell = bench.run("b");
  bench.submit(Bench::job("c"));
  CHECK(bench.scheduler.load() == 1);
  finish_busily(cell);
  CHECK(cell.job == "c");
  bench.submit(Bench::job("d"));
  CHECK(bench.scheduler.load() == 1);
  bench.pass(Pace::kPatience);
  CHECK(bench.scheduler.load() == 2);
}

TEST_CASE("a task is left to a scheduler that does not hold back", "[scheduler]") {
  Bench bench;
  OtherScheduler other;
  other.busy = 1;
  other.holds_back = true;
  bench.scheduler.set_peers({&other});
  finish_busily(bench.run("a"));
  bench.run("b");
  bench.submit(Bench::job("c"));
  CHECK(other.woken == 0);
  other.holds_back = false;
  bench.scheduler.turn();
  CHECK(other.woken == 1);
  CHECK(bench.scheduler.load() == 1);
}

}  // namespace
}  // namespace runtime
