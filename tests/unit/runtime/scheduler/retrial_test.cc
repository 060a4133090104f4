// Jobs that are judged anew: which, how often, beside whom.

#include "runtime/scheduler/retrial.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "runtime/job/live_io.h"
#include "tests/unit/runtime/scheduler/bench.h"

namespace runtime {
namespace {

using namespace std::chrono_literals;
using fake::Bench;
using fake::FakeCell;
using fake::OtherScheduler;
using fake::withdrawable;

// It met its wall limit.
RunResult late(Slowness slowed_by = Slowness::kDisk) {
  RunResult result;
  result.ran = true;
  result.evidence.deadline = DeadlineKind::kWall;
  result.evidence.slowed_by = slowed_by;
  result.evidence.exit = {true, 9};
  result.usage.cpu_us = 700;
  return result;
}

const JobResult& answer_of(const Bench& bench, const std::string& id) {
  REQUIRE(bench.client.answers.at(id).size() == 1);
  return bench.client.answers.at(id).front();
}

// The cell that runs it now, if one does.
FakeCell* cell_of(Bench& bench, const std::string& id) {
  for (FakeCell* cell : bench.machine.cells) {
    if (cell->state() == CellHandle::State::kRunning && cell->job == id) return cell;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a job that was late on a slow machine runs again, and its caller sees one result",
          "[scheduler][retrial]") {
  Bench bench;
  FakeCell& cell = bench.run("a");
  cell.finish(late(GENERATE(Slowness::kDisk, Slowness::kStolenTime)));
  CHECK(bench.label("a").empty());
  CHECK(cell.state() == CellHandle::State::kRunning);
  cell.finish_well();
  CHECK(bench.label("a") == "OK");
  const Usage& usage = answer_of(bench, "a").usage;
  CHECK((usage.reruns == 1 && usage.rerun_cpu_us == 700));
  CHECK(bench.scheduler.load() == 0);
}

TEST_CASE("a job that ended after a deadline that nobody saw runs again", "[scheduler][retrial]") {
  Bench bench;
  FakeCell& cell = bench.run("a");
  RunResult result;
  result.ran = true;
  result.evidence.ended_late = true;
  const bool is_unsafe = GENERATE(false, true);
  if (is_unsafe) result.evidence.violation = Violation{};
  cell.finish(std::move(result));
  REQUIRE(bench.label("a").empty() == !is_unsafe);  // which is so at any time
  if (is_unsafe) return;
  cell.finish(late(Slowness::kNone));
  CHECK(bench.label("a") == "TimeoutException");
  CHECK(answer_of(bench, "a").usage.reruns == 1);
}

TEST_CASE("who is late again has the second verdict", "[scheduler][retrial]") {
  Bench bench;
  FakeCell& cell = bench.run("a");
  cell.finish(late());
  cell.finish(late());
  CHECK(bench.label("a") == "TimeoutException");
}

TEST_CASE("a verdict that no slow machine explains stands", "[scheduler][retrial]") {
  Bench bench;
  FakeCell& cell = bench.run("a");
  RunResult result = late();
  std::string label = "TimeoutException";
  SECTION("the machine was not slow") { result = late(Slowness::kNone); }
  SECTION("it was its CPU time") { result.evidence.deadline = DeadlineKind::kCpu; }
  SECTION("something else decides") {
    result.evidence.violation = Violation{"socket", "", -1, "", 1};
    label = "UnsafeCode";
  }
  SECTION("it was cancelled") {
    cell.cancel();
    label = "Cancelled";
  }
  cell.finish(std::move(result));
  CHECK(bench.label("a") == label);
  CHECK(answer_of(bench, "a").usage.reruns == 0);
}

TEST_CASE("a job that somebody has talked with is not run again", "[scheduler][retrial]") {
  Bench bench;
  Job job = Bench::job("a");
  SECTION("by its live input and output") { job.live = LiveIo::adopt(sys::OwnedFd()); }
  SECTION("by the caller's own stdin") { job.stdin_fd = 0; }
  SECTION("as a program that is executed as it stands") { job.execution.emplace(); }
  bench.submit(std::move(job));
  bench.ready_template();
  bench.ready_cell().finish(late());
  CHECK(bench.label("a") == "TimeoutException");
}

TEST_CASE("one run in a hundred may be one again", "[scheduler][retrial]") {
  Bench bench;
  FakeCell& cell = bench.run("first");
  cell.finish(late());
  cell.finish_well();
  for (unsigned i = 2; i < RerunBudget::kJobsEach; ++i) {
    const std::string id = std::to_string(i);
    bench.submit(Bench::job(id));
    cell.finish(late());
    CHECK(bench.label(id) == "TimeoutException");
  }
  bench.submit(Bench::job("next"));
  cell.finish(late());
  CHECK(bench.label("next").empty());
  cell.finish_well();
}

TEST_CASE("a job is run again at the cost of its payer's own runs", "[scheduler][retrial]") {
  auto budget = std::make_shared<RerunBudget>();
  for (unsigned i = 0; i < 10 * RerunBudget::kJobsEach; ++i) budget->count_run("frugal");
  CHECK(budget->take("other"));  // what each has at the start
  CHECK_FALSE(budget->take("other"));
  CHECK(budget->take("frugal"));
  CHECK(budget->take("frugal"));
  CHECK_FALSE(budget->take("frugal"));  // more than two are not saved up
}

TEST_CASE("the place of one that is run again is free when it has run", "[scheduler][retrial]") {
  auto budget = std::make_shared<RerunBudget>();
  for (unsigned i = 0; i < RerunBudget::kJobsEach; ++i) budget->count_run("");
  std::shared_ptr<void> place = budget->take("a");
  REQUIRE(place);
  CHECK_FALSE(budget->take("b"));
  place.reset();
  CHECK(budget->take("b"));
}

TEST_CASE("payers are remembered in bounded room", "[scheduler][retrial]") {
  auto budget = std::make_shared<RerunBudget>();
  for (unsigned i = 0; i < 8 * RerunBudget::kJobsEach; ++i) budget->count_run("frugal");
  CHECK(budget->take("spender"));
  CHECK_FALSE(budget->take("spender"));
  for (unsigned i = 0; i < RerunBudget::kMostPayers; ++i) budget->count_run(std::to_string(i));
  CHECK(budget->take("spender"));
}

TEST_CASE("a job of several runs is judged anew in one of them at most", "[scheduler][retrial]") {
  Bench bench;
  for (unsigned i = 0; i < 2 * RerunBudget::kJobsEach; ++i)
    bench.run("before " + std::to_string(i)).finish_well();
  Job job = Bench::job("a");
  job.determinism_runs = 2;
  bench.submit(std::move(job));
  REQUIRE(cell_of(bench, "a"));
  cell_of(bench, "a")->finish(late());
  REQUIRE(cell_of(bench, "a"));
  cell_of(bench, "a")->finish_well();
  bench.ready_template();
  bench.ready_cell().finish(late());
  CHECK_FALSE(cell_of(bench, "a"));
  CHECK(bench.label("a") == "NonDeterministicCode");
}

TEST_CASE("many payers have no more together than one run in a hundred", "[scheduler][retrial]") {
  auto budget = std::make_shared<RerunBudget>();
  unsigned taken = 0;
  for (unsigned i = 0; i < 2 * RerunBudget::kMostPayers; ++i) {
    const std::string payer = std::to_string(i);
    if (budget->take(payer)) ++taken;
    budget->count_run(payer);
  }
  CHECK(taken <= 1 + 2 * RerunBudget::kMostPayers / RerunBudget::kJobsEach);
  CHECK(taken > RerunBudget::kMostSaved);
}

TEST_CASE("one job of an engine is run again at a time, and a tenant pays for its own",
          "[scheduler][retrial]") {
  Bench bench(4);
  for (unsigned i = 0; i < 2 * RerunBudget::kJobsEach; ++i) {
    bench.run("before " + std::to_string(i)).finish_well();
  }
  FakeCell& first = bench.run("a");
  bench.submit(Bench::job("b"));
  FakeCell& second = bench.ready_cell();
  first.finish(late());
  CHECK(bench.label("a").empty());
  second.finish(late());
  CHECK(bench.label("b") == "TimeoutException");
  REQUIRE(cell_of(bench, "a"));
  cell_of(bench, "a")->finish_well();
  CHECK(bench.label("a") == "OK");
  Task task;
  CHECK(task.payer().empty());
  task.job.tenant = "t";
  CHECK(task.payer() == "t");
}

TEST_CASE("a job is judged anew when the others of its shard have ended", "[scheduler][retrial]") {
  Bench bench;
  FakeCell& doubtful = bench.run("a");
  bench.submit(Bench::job("b"));
  FakeCell& beside = bench.ready_cell();
  doubtful.finish(late());
  CHECK(doubtful.state() == CellHandle::State::kIdle);
  SECTION("they end") { beside.finish_well(); }
  SECTION("they go on for long") {
    bench.pass(Retrial::kPatience - 1ms);
    CHECK(doubtful.state() == CellHandle::State::kIdle);
    bench.pass(Retrial::kLookAgain);
  }
  CHECK(cell_of(bench, "a"));
}

TEST_CASE("no job waits because another is judged anew", "[scheduler][retrial]") {
  Bench bench;
  FakeCell& doubtful = bench.run("a");
  bench.submit(Bench::job("b"));
  FakeCell& beside = bench.ready_cell();
  doubtful.finish(late());
  bench.submit(Bench::job("c"));  // all workers are taken: one by a job that waits to be alone
  CHECK(doubtful.state() == CellHandle::State::kRunning);
  CHECK(doubtful.job == "a");
  beside.finish_well();
  CHECK(beside.job == "c");  // beside it: no other shard has room
}

TEST_CASE("another shard takes new jobs while one is judged anew", "[scheduler][retrial]") {
  Bench bench;
  OtherScheduler other;
  other.busy = 1;
  bench.scheduler.set_peers({&other});
  FakeCell& cell = bench.run("a");
  cell.finish(late());
  REQUIRE(cell.job == "a");
  SECTION("if it has room") {
    bench.submit(Bench::job("b"));
    CHECK(other.woken == 1);
    CHECK(bench.machine.cells_made == 1);
  }
  SECTION("but not one without") {
    other.busy = 2;
    bench.submit(Bench::job("b"));
    bench.pass(Pace::kPatience);  // the one that is judged anew has just begun
    CHECK(bench.machine.cells_made == 2);
  }
  cell.finish_well();
  CHECK(bench.scheduler.load() < 2);  // as before
}

TEST_CASE("a job that is withdrawn while it waits to be judged anew, or is, ends as cancelled",
          "[scheduler][retrial]") {
  Bench bench;
  Job job = withdrawable("a");
  const std::shared_ptr<JobWatch> watch = job.watch;
  bench.submit(std::move(job));
  bench.ready_template();
  FakeCell& doubtful = bench.ready_cell();
  bench.submit(Bench::job("b"));
  FakeCell& beside = bench.ready_cell();
  doubtful.finish(late());
  SECTION("alone") {
    watch->withdrawn = true;
    bench.scheduler.cancel_withdrawn();
    bench.turn();
  }
  SECTION("with all others") {
    bench.scheduler.cancel();
    bench.turn();
  }
  SECTION("while it runs") {
    beside.finish_well();
    watch->withdrawn = true;
    bench.scheduler.cancel_withdrawn();
    bench.turn();
    REQUIRE(cell_of(bench, "a"));
    cell_of(bench, "a")->finish(late());
  }
  CHECK(bench.label("a") == "Cancelled");
  CHECK(bench.client.answers.at("a").size() == 1);
}

TEST_CASE("a build that was late on a slow machine is done again", "[scheduler][retrial]") {
  Bench bench;
  FakeCell& compiler = bench.run("a", "c");
  REQUIRE(compiler.builds);
  compiler.finish(late());
  REQUIRE(compiler.builds);
  CHECK(compiler.state() == CellHandle::State::kRunning);
  CHECK(bench.label("a").empty());
  compiler.finish_well();
  CHECK(bench.label("a").empty());  // and its program runs
}

}  // namespace runtime
