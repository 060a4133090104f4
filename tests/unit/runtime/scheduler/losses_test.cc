// Templates and cells that die, and a machine without room.

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

TEST_CASE("a template that is killed while jobs wait is started again for them", "[scheduler]") {
  Bench bench;
  bench.submit(Bench::job("a"));
  bench.submit(Bench::job("b"));
  bench.machine.templates.back()->die();
  bench.turn();
  REQUIRE(bench.machine.templates.size() == 1);
  CHECK(bench.machine.templates.back()->state() == TemplateHandle::State::kStarting);
  bench.ready_template();
  for (fake::FakeCell* cell : std::list(bench.machine.cells)) cell->become_ready();
  for (fake::FakeCell* cell : std::list(bench.machine.cells)) cell->finish_well();
  CHECK(bench.label("a") == "OK");
  CHECK(bench.label("b") == "OK");
}

TEST_CASE("a job that loses its template again and again ends as our error", "[scheduler]") {
  Bench bench;
  bench.submit(Bench::job("a"));
  for (int kills = 0; kills < 3; ++kills) {
    bench.machine.templates.back()->die();
    bench.turn();
  }
  CHECK(bench.label("a") == "SandboxError");
  CHECK(bench.scheduler.load() == 0);
}

TEST_CASE("a template that refuses itself is the caller's mistake", "[scheduler]") {
  Bench bench;
  bench.submit(Bench::job("a"));
  bench.machine.templates.back()->refuse();
  bench.turn();
  CHECK(bench.label("a") == "BadJob");
}

TEST_CASE("a cell that dies before its job began costs the job nothing", "[scheduler]") {
  Bench bench;
  bench.submit(Bench::job("a"));
  bench.ready_template();
  bench.machine.cells.back()->die();
  bench.turn();
  fake::FakeCell& next = bench.ready_cell();
  CHECK(next.job == "a");
  next.finish_with({shim::Step::kSendOrder, EPIPE, "gone"},
                   false);  // it was dead, and nobody had heard
  bench.turn();
  bench.ready_cell().finish_well();
  CHECK(bench.label("a") == "OK");
}

TEST_CASE("a job for which there is no room waits, and runs when there is", "[scheduler]") {
  Bench bench;
  bench.machine.template_error = EAGAIN;
  bench.submit(Bench::job("a"));
  CHECK(bench.label("a").empty());
  CHECK(bench.scheduler.load() == 0);
  REQUIRE(bench.machine.ask_at);
  bench.machine.template_error = 0;
  bench.pass(1min);
  bench.ready_template();
  bench.machine.cell_error = 0;
  bench.ready_cell().finish_well();
  CHECK(bench.label("a") == "OK");
}

TEST_CASE("a job for which there is no room for a minute says what was refused", "[scheduler]") {
  Bench bench;
  bench.machine.template_error = ENOMEM;
  bench.submit(Bench::job("a"));
  for (int tries = 0; tries < 40 && bench.label("a").empty(); ++tries) bench.pass(5s);
  CHECK(bench.label("a") == "SandboxError");
  CHECK(bench.machine.time - sys::Nanoseconds(1h) < 2min);
}

TEST_CASE("a job that the kernel ended for want of memory is run again", "[scheduler]") {
  Bench bench;
  fake::FakeCell& cell = bench.run("a");
  ++bench.machine.ooms;
  cell.die();
  bench.turn();
  CHECK(bench.label("a").empty());
  CHECK(bench.capacity.width() == 1);
  bench.pass(10s);
  bench.ready_cell().finish_well();
  CHECK(bench.label("a") == "OK");
}

TEST_CASE("a job that the kernel ends again and again is given up", "[scheduler]") {
  Bench bench;
  const auto lose = [&bench] {
    ++bench.machine.ooms;
    bench.machine.cells.back()->die();
    bench.turn();
    return bench.label("a");
  };
  SECTION("after eight runs that it had alone, with longer and longer pauses") {
    bench.run("a");
    sys::Nanoseconds last{};
    for (int run = 1; run < 8; ++run) {
      REQUIRE(lose().empty());
      bench.pass(20ms);  // a step of the pool is told
      const sys::Nanoseconds pause = bench.capacity.patience(bench.machine.time);
      CHECK((pause > last || pause >= 3s));
      last = pause;
      bench.pass(4s);
      bench.ready_cell();
      bench.capacity.serve();  // another shard's
    }
    CHECK(lose() == "SandboxError");
  }
  SECTION("after more where others were beside it, for what they use is not its fault") {
    bench.run("b");
    bench.run("a");
    for (int run = 1; run < 32; ++run) {
      REQUIRE(lose().empty());
      bench.pass(40s);
      bench.ready_cell();
    }
    CHECK(lose() == "SandboxError");
  }
}

TEST_CASE("a job whose input cannot be given again is not run again", "[scheduler]") {
  Bench bench;
  Job job = Bench::job("a");
  job.stdin_fd = 0;
  bench.submit(std::move(job));
  bench.ready_template();
  bench.ready_cell().finish_with({shim::Step::kFork, EAGAIN, "no process"}, false);
  CHECK(bench.label("a") == "SandboxError");
}

TEST_CASE("a cell that cannot hold a job to its limits is replaced once", "[scheduler]") {
  Bench bench;
  fake::FakeCell& used = bench.run("a");
  used.finish_well();
  used.limits_error = EIO;
  bench.submit(Bench::job("b"));
  REQUIRE(bench.machine.cells_made == 2);  // a fresh one may do better
  fake::FakeCell& fresh = *bench.machine.cells.back();
  fresh.limits_error = EIO;
  fresh.become_ready();
  CHECK(bench.label("b") == "SandboxError");
}

TEST_CASE("who finds no room asks the others for what they do not use", "[scheduler]") {
  Bench bench(4);
  OtherScheduler other;
  other.busy = 2;
  bench.scheduler.set_peers({&other});
  bench.machine.template_error = EMFILE;
  bench.submit(Bench::job("a"));
  CHECK(other.asked > 0);
}

TEST_CASE("what is idle is given back to others who ask", "[scheduler]") {
  Bench bench;
  fake::FakeCell& cell = bench.run("a");
  cell.finish_well();
  bench.scheduler.ask_back();
  bench.turn();
  CHECK(cell.is_ended());
}

}  // namespace
}  // namespace runtime
