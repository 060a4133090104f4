// Tests of where the steps of sessions run, on a fake machine: only children of the process that a
// node's own was forked from can become like it.

#include <catch2/catch.hpp>
#include <utility>

#include "runtime/sessions/node_store.h"
#include "tests/unit/runtime/scheduler/bench.h"

namespace runtime {
namespace {

using fake::Bench;
using fake::FakeCell;

struct Sessions : Bench {
  Sessions() : Bench(2) {}
  // As the engine does it.
  Job step(const std::string& id, const std::string& node) {
    Job step = job(id);
    step.session = node.empty() ? kNewSession : node;
    if (!node.empty()) step.node = nodes->find(node, "", machine.time).value();
    return step;
  }
  FakeCell& running(const std::string& id) {
    for (FakeCell* cell : machine.cells) {
      if (cell->state() == CellHandle::State::kRunning && cell->job == id) return *cell;
    }
    FAIL(id << " does not run");
    return *machine.cells.back();
  }
  // The step ends well, and leaves a state; the node that the client is told.
  std::string end(FakeCell& cell, bool has_answer = true) {
    RunResult result;
    result.ran = true;
    result.testimony.kind = has_answer ? Testimony::Kind::kFinished : Testimony::Kind::kNothing;
    auto state = std::make_shared<NodeState>();
    state->bytes = 4096;
    result.state = std::move(state);
    const std::string id = cell.job;
    cell.finish(std::move(result));
    turn();
    return client.answers.at(id).back().step->node;
  }
  std::string first(const std::string& id) {
    submit(step(id, ""));
    if (machine.templates.back()->state() == TemplateHandle::State::kStarting) ready_template();
    if (machine.cells.back()->state() == CellHandle::State::kStarting) ready_cell();
    return end(running(id));
  }
  const StepReport& report(const std::string& id) const {
    return *client.answers.at(id).back().step;
  }
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
  bench.machine.templates.front()->die();
  bench.turn();
  bench.submit(bench.step("two", node));
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

TEST_CASE("a task of another shard is left to that", "[nodes]") {
  Sessions bench;
  const std::string node = bench.first("one");
  AdmissionQueue queue(2);
  Job step = bench.step("two", node);
  auto elsewhere = std::make_shared<Node>(*step.node);
  elsewhere->shard = 1;
  step.node = elsewhere;
  queue.put(bench.client.task(std::move(step), bench.machine.time));
  CHECK(queue.empty());
  CHECK_FALSE(queue.has_bound(0));
  CHECK_FALSE(queue.take(bench.machine.time, 0));
  CHECK(queue.has_bound(1));
  CHECK(queue.take(bench.machine.time, 1));
  CHECK_FALSE(queue.has_bound(1));
}

TEST_CASE("steps at nodes come before and behind others by priority and age", "[nodes]") {
  Sessions bench;
  const std::string node = bench.first("one");
  AdmissionQueue queue(8);
  const auto put = [&](Job job, int priority, int age) {
    job.priority = priority;
    queue.put(bench.client.task(std::move(job), std::chrono::seconds(100 - age)));
  };
  put(bench.step("young step", node), 0, 1);
  put(bench.job("old job"), 0, 3);
  put(bench.job("old, of little weight"), -1, 9);
  put(bench.step("old step", node), 1, 2);
  std::string order;
  while (TaskPtr next = queue.take(std::chrono::seconds(100), 0)) order += next->job.id + ", ";
  CHECK(order == "old step, old job, young step, old, of little weight, ");
}

TEST_CASE("clients take turns at what only one shard can run", "[nodes]") {
  Sessions bench;
  const std::string node = bench.first("one");
  AdmissionQueue queue(8);
  const auto put = [&](const std::string& id, const std::string& client) {
    Job step = bench.step(id, node);
    step.watch = std::make_shared<JobWatch>();
    step.watch->client = client;
    queue.put(bench.client.task(std::move(step), {}));
  };
  for (const char* id : {"a1", "a2", "a3", "a4"}) put(id, "ann");
  put("b1", "bob");
  put("b2", "bob");
  put("c1", "carl");
  std::string order;
  while (TaskPtr next = queue.take({}, 0)) {
    order += next->job.id + " ";
    queue.left(next->client());
  }
  CHECK(order == "a1 b1 c1 a2 b2 a3 a4 ");
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
    step.node = bench.nodes->find(step.session, tenant, bench.machine.time).value();
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
