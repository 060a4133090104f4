// Tests of where the steps of sessions run, on a fake machine: only children of the process that a
// node's own was forked from can become like it.

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <utility>

#include "tests/unit/runtime/scheduler/sessions.h"

namespace runtime {
namespace {

using fake::Bench;
using fake::FakeCell;
using fake::Sessions;

// Another scheduler of the same engine.
struct Elsewhere {
  explicit Elsewhere(Bench& bench)
      : client(bench.client),
        scheduler(machine, bench.catalogue, admission, capacity, {2, 0, {}, {}, bench.nodes, 1}) {}
  ~Elsewhere() { scheduler.end_all(); }
  void submit(Job job) {
    admission.put(client.task(std::move(job), machine.time));
    scheduler.turn();
  }
  void turn() {
    while (std::exchange(machine.woken, false)) scheduler.turn();
  }

  fake::FakeClient& client;
  fake::FakeMachine machine;
  AdmissionQueue admission{2};
  Capacity capacity{2, {}};
  Scheduler scheduler;
};

}  // namespace

TEST_CASE("a step goes on in a cell of the process that its node was forked from", "[nodes]") {
  Sessions bench;
  const std::string node = bench.first("one");
  REQUIRE(bench.report("one") == StepReport{node, "", true, "", 4096});

  bench.submit(bench.step("two", node));
  CHECK(bench.running("two").parent == bench.machine.templates.front());
  const std::string next = bench.end(bench.running("two"));
  CHECK(bench.report("two").parent == node);
  CHECK(next != node);
}

TEST_CASE("a step that a limit ends leaves its session where it was", "[nodes]") {
  Sessions bench;
  const std::string node = bench.first("one");
  bench.submit(bench.step("two", node));
  RunResult late;
  late.ran = true;
  late.evidence.deadline = DeadlineKind::kWall;
  late.state = std::make_shared<NodeState>();
  bench.running("two").finish(std::move(late));
  bench.turn();
  CHECK(bench.label("two") == "TimeoutException");
  CHECK(bench.report("two") ==
        StepReport{node, node, false, "a step that ends so leaves the session as it was", 0});
}

TEST_CASE("a process that stops without a word leaves no node", "[nodes]") {
  Sessions bench;
  bench.submit(bench.step("one", ""));
  bench.ready_template();
  bench.ready_cell();
  bench.end(bench.running("one"), false);
  CHECK(bench.report("one") == StepReport{"", "", false, "the program stopped itself", 0});
}

TEST_CASE("a node whose process has ended is gone, and says so", "[nodes]") {
  Sessions bench;
  const std::string node = bench.first("one");
  Job late = bench.step("two", node);
  bench.machine.templates.front()->die();
  bench.turn();
  bench.submit(std::move(late));
  REQUIRE(bench.label("two") == "BadJob");
  const Detail& detail = bench.client.answers.at("two").back().verdict.detail;
  CHECK(std::get<std::string>(detail.front().second) ==
        "session: node \"" + node + "\" is gone: the process that it was forked from has ended");
}

TEST_CASE("a step whose cell dies before it begins runs in another one", "[nodes]") {
  Sessions bench;
  const std::string node = bench.first("one");
  bench.submit(bench.step("two", node));
  bench.submit(bench.step("three", node));  // needs a second cell
  FakeCell& starting = *bench.machine.cells.back();
  REQUIRE(starting.state() == CellHandle::State::kStarting);
  starting.die(ESRCH);
  bench.turn();
  REQUIRE(bench.machine.cells.back()->state() == CellHandle::State::kStarting);
  bench.ready_cell();
  bench.end(bench.running("three"));
  bench.end(bench.running("two"));
  CHECK(bench.label("two") + bench.label("three") == "OKOK");
}

TEST_CASE("a step runs in a child of another scheduler's process", "[nodes]") {
  Sessions bench;
  const std::string node = bench.first("one");
  fake::FakeTemplate& home = *bench.machine.templates.front();
  Elsewhere other(bench);
  other.submit(bench.step("two", node));
  CHECK(other.machine.templates.empty());
  REQUIRE(other.machine.cells.size() == 1);
  FakeCell& cell = *other.machine.cells.front();
  CHECK(cell.parent == &home);
  cell.become_ready();
  other.turn();
  REQUIRE(cell.job == "two");
  bench.end(cell);
  other.turn();
  CHECK(bench.report("two").kept);

  SECTION("and the cell serves the next one") {
    other.submit(bench.step("three", bench.report("two").node));
    CHECK(cell.job == "three");
    CHECK(other.machine.cells.size() == 1);
    bench.end(cell);
  }
  SECTION("and the cell ends with the last node") {
    for (const char* step : {"one", "two"})
      REQUIRE(bench.nodes->forget(bench.report(step).node, ""));
    other.scheduler.turn();
    CHECK(cell.is_ended());
  }
  SECTION("and says so when that is gone") {
    Job late = bench.step("three", node);
    home.die();
    CHECK(bench.nodes->why_gone(node, "") ==
          "node \"" + node + "\" is gone: the process that it was forked from has ended");
    other.submit(std::move(late));
    CHECK(bench.label("three") == "BadJob");
    CHECK(cell.is_ended());
  }
}

TEST_CASE("a process stays while steps of other schedulers are in its children", "[nodes]") {
  Sessions bench;
  Job first = bench.step("one", "");
  first.tenant = "ann";
  bench.submit(std::move(first));
  bench.ready_template();
  bench.ready_cell();
  Job second = Bench::job("two");
  second.tenant = "ann";
  second.session = bench.end(bench.running("one"));
  second.node = bench.nodes->find(second.session, "ann", bench.machine.time).value();
  Elsewhere other(bench);
  other.submit(std::move(second));
  fake::FakeTemplate& home = *bench.machine.templates.front();
  bench.scheduler.ask_back();  // memory is short
  bench.turn();
  CHECK_FALSE(home.is_ending());
  FakeCell& cell = *other.machine.cells.front();
  cell.become_ready();
  bench.end(cell);
  bench.scheduler.ask_back();
  bench.turn();
  CHECK(home.is_ending());
  home.die();
}

TEST_CASE("the template whose nodes other schedulers use is not the one that leaves", "[nodes]") {
  Sessions bench;  // keeps two
  const auto begin = [&bench](const std::string& tenant) {
    Job job = bench.step(tenant, "");
    job.tenant = tenant;
    bench.submit(std::move(job));
    bench.ready_template();
    bench.ready_cell();
    const std::string node = bench.end(bench.running(tenant));
    bench.pass(std::chrono::seconds(1));
    return node;
  };
  const std::string of_ann = begin("ann"), of_bob = begin("bob");
  Elsewhere other(bench);
  other.machine.time = bench.machine.time;
  Job step = Bench::job("two");
  step.tenant = "ann";
  step.session = of_ann;
  step.node = bench.nodes->find(of_ann, "ann", bench.machine.time).value();
  other.submit(std::move(step));
  other.machine.cells.front()->become_ready();
  bench.end(*other.machine.cells.front());
  bench.pass(std::chrono::seconds(1));
  (void)begin("carl");
  for (fake::FakeTemplate* each : std::list(bench.machine.templates))
    if (each->is_ending()) each->die();
  CHECK(bench.nodes->why_gone(of_ann, "ann").empty());
  CHECK_FALSE(bench.nodes->why_gone(of_bob, "bob").empty());
}

TEST_CASE("a step that waits for room holds no process", "[nodes]") {
  Sessions bench;
  const std::string node = bench.first("one");
  fake::FakeTemplate& home = *bench.machine.templates.front();
  Elsewhere other(bench);
  other.machine.cell_error = EAGAIN;
  other.submit(bench.step("two", node));
  CHECK(bench.label("two").empty());
  CHECK_FALSE(home.incarnation()->has_visitors());
}

TEST_CASE("a step that loses its process because the engine stops is cancelled", "[nodes]") {
  Sessions bench;
  const std::string node = bench.first("one");
  Elsewhere other(bench);
  other.submit(bench.step("two", node));
  FakeCell& cell = *other.machine.cells.front();
  cell.become_ready();
  REQUIRE(cell.job == "two");
  bench.scheduler.stop();
  other.scheduler.stop();
  bench.turn();
  bench.scheduler.end_all();  // the other one has not heard of it yet
  cell.die();
  other.turn();
  CHECK(bench.label("two") == "Cancelled");
}

TEST_CASE("who comes when the process is about to be ended comes too late", "[nodes]") {
  const auto of = std::make_shared<Incarnation>();
  std::optional<Visit> visit = Visit::begin(of);
  REQUIRE(visit);
  CHECK_FALSE(of->close());
  visit.reset();
  CHECK(of->close());
  CHECK(of->close());
  CHECK_FALSE(Visit::begin(of));
  CHECK_FALSE(of->has_visitors());
}

TEST_CASE("a step that is run again keeps its state once", "[nodes]") {
  Sessions bench;
  bench.submit(bench.step("one", ""));
  bench.ready_template();
  bench.ready_cell();
  RunResult lost;
  lost.ran = true;
  lost.evidence.fault = Evidence::Fault{shim::Step::kRequest, ENOMEM, "no memory"};
  lost.state = std::make_shared<NodeState>();
  bench.running("one").finish(std::move(lost));
  bench.turn();
  CHECK(bench.nodes->counts().nodes == 0);
}

TEST_CASE("a template that nodes need is kept behind its successor, within a bound", "[nodes]") {
  Sessions bench;
  const std::string node = bench.first("one");
  bench.pass(std::chrono::hours(2));  // its age
  bench.run("job");                   // makes a cell, and with it a successor
  bench.submit(bench.job("other"));
  bench.machine.cells.back()->become_ready();
  bench.turn();
  REQUIRE(bench.machine.templates.size() == 2);
  bench.ready_template();
  for (const char* id : {"job", "other"}) bench.running(id).finish_well();
  bench.turn();
  bench.submit(bench.step("two", node));
  if (bench.machine.cells.back()->state() == CellHandle::State::kStarting) bench.ready_cell();
  CHECK(bench.running("two").parent == bench.machine.templates.front());
  bench.end(bench.running("two"));
  CHECK(bench.label("two") == "OK");
}

TEST_CASE("templates of tenants that nodes need stay while the nodes do", "[nodes]") {
  Sessions bench;
  Job first = bench.step("one", "");
  first.tenant = "ann";
  bench.submit(std::move(first));
  bench.ready_template();
  bench.ready_cell();
  const std::string node = bench.end(bench.running("one"));
  bench.pass(std::chrono::minutes(6));  // its template has no other use
  CHECK(bench.scheduler.counts().tenant_templates == 1);
  bench.pass(std::chrono::hours(24));
  CHECK_FALSE(bench.nodes->find(node, "ann", bench.machine.time));
  CHECK(bench.scheduler.counts().tenant_templates == 0);
}

TEST_CASE("who comes takes the template of nodes only where there is no other", "[nodes]") {
  Sessions bench;  // keeps two
  const auto begin = [&bench](const std::string& tenant, bool is_step) {
    Job job = is_step ? bench.step(tenant, "") : Bench::job(tenant);
    job.tenant = tenant;
    bench.submit(std::move(job));
    bench.ready_template();
    bench.ready_cell();
    FakeCell& cell = bench.running(tenant);
    is_step ? void(bench.end(cell)) : cell.finish_well();
    bench.turn();
    bench.pass(std::chrono::seconds(1));
  };
  const auto has_node = [&bench](const std::string& id, const std::string& tenant) {
    Job step = Bench::job(id);
    step.tenant = tenant;
    step.session = bench.client.answers.at(tenant).back().step->node;
    const auto found = bench.nodes->find(step.session, tenant, bench.machine.time);
    if (!found) return false;
    step.node = *found;
    bench.submit(std::move(step));
    if (!bench.client.answers[id].empty()) return bench.label(id) == "OK";
    if (bench.machine.cells.back()->state() == CellHandle::State::kStarting) bench.ready_cell();
    bench.end(bench.running(id));
    return bench.label(id) == "OK";
  };
  begin("ann", true);
  begin("bob", false);
  begin("carl", false);  // bob's goes, though ann's is older
  CHECK(has_node("still there", "ann"));
  begin("dora", true);
  begin("emil", false);  // both are needed by nodes: the older one goes
  CHECK(bench.scheduler.counts().tenant_templates == 2);
  CHECK_FALSE(has_node("gone", "ann"));
  CHECK(has_node("there", "dora"));
}

}  // namespace runtime
