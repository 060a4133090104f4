// Tests of where the steps of sessions run, on a fake machine: only children of the process that a
// node's own was forked from can become like it.

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <utility>

#include "runtime/sessions/node_store.h"
#include "tests/unit/runtime/scheduler/bench.h"

namespace runtime {
namespace {

using fake::Bench;
using fake::FakeCell;

struct Sessions : Bench {
  explicit Sessions(NodesPlan plan = {.idle = std::chrono::hours(24)})
      : Bench(2, std::move(plan)) {}
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

namespace {

constexpr uint64_t kPage = 4096;

// Memory for two pages of each tenant's nodes, and a disk.
struct WithDisk : Sessions {
  WithDisk()
      : Sessions(NodesPlan{.memory = sys::Bytes{4 * kPage + 1},
                           .idle = std::chrono::hours(24),
                           .disk = NodeDisk::open("/tmp").value(),
                           .on_disk = sys::Bytes{1 << 20}}) {}

  // A node of one page; empty: there is no room.
  std::string keep(const std::string& tenant = "") {
    auto contents = std::make_shared<NodeContents>();
    contents->bytes = kPage;
    contents->hold = nodes->reserve(tenant, kPage);
    if (!contents->hold) return "";
    contents->file = new_node_file(kPage).value();
    auto state = std::make_shared<NodeState>();
    state->files.push_back(std::move(contents));
    return nodes->put({.id = {},
                       .tenant = tenant,
                       .template_name = "python",
                       .of = machine.templates.front()->incarnation()},
                      std::move(state), machine.time);
  }
  // One after another, as cells get ready.
  void begin(const std::string& id, const std::string& node) {
    submit(step(id, node));
    settle();
  }
  // What is done beside the scheduler is done, and cells are ready.
  void settle() {
    for (;;) {
      if (!machine.asides.empty()) {
        machine.come_back();
      } else if (FakeCell* cell = starting()) {
        cell->become_ready();
      } else {
        return;
      }
      turn();
    }
  }
  FakeCell* starting() {
    for (FakeCell* cell : machine.cells)
      if (cell->state() == CellHandle::State::kStarting) return cell;
    return nullptr;
  }
  bool runs(const std::string& id) {
    return std::any_of(machine.cells.begin(), machine.cells.end(), [&](const FakeCell* cell) {
      return cell->state() == CellHandle::State::kRunning && cell->job == id;
    });
  }
};

// Of these the first two are on the disk.
struct ThreeOnDisk : WithDisk {
  ThreeOnDisk() {
    first("root");
    nodes->forget(report("root").node, "");
    for (std::string& id : ids) id = keep();
    REQUIRE(nodes->counts().on_disk == 1);
    memory = nodes->state_of(*nodes->find(ids[2], "", machine.time).value());
    last = keep();
    REQUIRE(nodes->counts().on_disk == 2);
  }
  std::string ids[3], last;
  std::shared_ptr<const NodeState> memory;  // in use: one more page is there for all others
};

}  // namespace

TEST_CASE("a step has its node read from the disk beside the scheduler", "[nodes]") {
  ThreeOnDisk bench;
  bench.submit(bench.step("step", bench.ids[0]));
  CHECK(bench.machine.asides.size() == 1);
  CHECK(bench.scheduler.load() == 1);
  CHECK_FALSE(bench.runs("step"));
  bench.settle();
  CHECK(bench.runs("step"));
  CHECK(bench.nodes->counts().on_disk == 2);  // the last one made room
}

TEST_CASE("a step without room for its node waits until another has ended", "[nodes]") {
  ThreeOnDisk bench;
  bench.begin("one", bench.ids[0]);
  REQUIRE(bench.runs("one"));
  bench.begin("two", bench.ids[1]);
  CHECK_FALSE(bench.runs("two"));
  CHECK(bench.label("two").empty());
  CHECK(bench.scheduler.load() == 1);  // it has no worker

  SECTION("which makes room") {
    bench.running("one").finish_well();
    bench.turn();
    bench.settle();
    CHECK(bench.runs("two"));
  }
  SECTION("or is cancelled") {
    bench.scheduler.cancel();
    bench.turn();
    CHECK(bench.label("two") == "Cancelled");
  }
  SECTION("or all ends") {
    bench.scheduler.stop();
    bench.turn();
    CHECK(bench.label("two") == "Cancelled");
  }
  SECTION("and others may go on") {
    bench.submit(bench.job("job"));
    bench.settle();
    CHECK(bench.runs("job"));
  }
  bench.nodes->forget(bench.last, "");
}

TEST_CASE("where there is room for one that waited, the next one is tried", "[nodes]") {
  ThreeOnDisk bench;
  bench.begin("one", bench.ids[0]);
  for (const char* id : {"two", "three"}) bench.begin(id, bench.ids[1]);
  CHECK(bench.scheduler.load() == 1);
  bench.running("one").finish_well();
  bench.turn();
  bench.settle();
  CHECK(bench.runs("two"));
  CHECK(bench.runs("three"));  // one memory is for both
}

TEST_CASE("of steps that are each in the other's way one goes on", "[nodes]") {
  ThreeOnDisk bench;
  bench.begin("first", bench.ids[0]);
  bench.admission.put(bench.client.task(bench.step("one", bench.ids[1]), bench.machine.time));
  bench.submit(bench.step("two", bench.last));  // which has come back from the disk, and is away
  bench.running("first").finish_well();
  bench.turn();
  bench.settle();
  for (const char* id : {"one", "two"}) {
    const std::string runs = bench.runs("one") ? "one" : "two";
    INFO(id);
    REQUIRE(bench.runs(runs));
    bench.running(runs).finish_well();
    bench.turn();
    bench.settle();
  }
  CHECK(bench.label("one") == "OK");
  CHECK(bench.label("two") == "OK");
}

TEST_CASE("a step that waits for a process holds no memory", "[nodes]") {
  ThreeOnDisk bench;
  bench.machine.cell_error = EAGAIN;
  for (fake::FakeCell* cell : std::list(bench.machine.cells)) cell->die();
  bench.turn();
  bench.begin("one", bench.last);
  CHECK(bench.label("one").empty());
  CHECK(bench.scheduler.load() == 0);
  const auto node = bench.nodes->find(bench.last, "", bench.machine.time).value();
  CHECK(bench.nodes->state_of(*node).use_count() == 2);  // the store's, and this one
}

TEST_CASE("a step that waits for room is withdrawn", "[nodes]") {
  ThreeOnDisk bench;
  bench.begin("one", bench.ids[0]);
  Job step = bench.step("two", bench.ids[1]);
  step.watch = std::make_shared<JobWatch>();
  const std::shared_ptr<JobWatch> watch = step.watch;
  bench.submit(std::move(step));
  bench.settle();
  REQUIRE(bench.label("two").empty());
  watch->withdrawn = true;
  bench.scheduler.cancel_withdrawn();
  bench.turn();
  CHECK(bench.label("two") == "Cancelled");
  CHECK(bench.runs("one"));
}

TEST_CASE("where no step is under way that has the memory, none is waited for", "[nodes]") {
  ThreeOnDisk bench;
  const auto all = bench.nodes->reserve("", kPage);
  REQUIRE(all);
  bench.begin("one", bench.ids[0]);
  REQUIRE(bench.label("one") == "SandboxError");
  const Detail& detail = bench.client.answers.at("one").back().verdict.detail;
  CHECK(std::any_of(detail.begin(), detail.end(), [](const auto& each) {
    const auto* text = std::get_if<std::string>(&each.second);
    return text && text->find("its node is on the disk, and others have the memory") != text->npos;
  }));
}

struct Turns {
  std::vector<TaskPtr> back;
  const std::shared_ptr<NodeTurns> turns =
      std::make_shared<NodeTurns>([this](TaskPtr task) { back.push_back(std::move(task)); },
                                  std::chrono::hours(1));  // nobody has to lose patience

  // The ids of the tasks that were given back, which keep their place among those that wait.
  std::string given_back() const {
    std::string ids;
    for (const TaskPtr& task : back) ids += task->job.id;
    return ids;
  }
  // Under way.
  TaskPtr begin(const std::string& id, const std::string& tenant = "ann", int accepted = 0) {
    auto task = std::make_unique<Task>();
    task->job.id = id;
    task->job.tenant = tenant;
    task->accepted_at = sys::Nanoseconds(accepted);
    task->turn = turns->begin(*task);
    return task;
  }
  NodeTurns::Fate wait(const std::string& id, int accepted = 0, const std::string& tenant = "ann") {
    TaskPtr task = begin(id, tenant, accepted);
    return turns->wait(task);
  }
};

TEST_CASE("steps that wait for room have their turns in order", "[nodes]") {
  Turns bench;
  TaskPtr runs = bench.begin("runs");
  CHECK(bench.wait("b", 2) == NodeTurns::Fate::kWaits);
  CHECK(bench.wait("a", 1) == NodeTurns::Fate::kWaits);
  CHECK(bench.wait("c", 3) == NodeTurns::Fate::kWaits);
  TaskPtr late = bench.begin("late", "ann", 4);
  runs.reset();
  CHECK(bench.given_back() == "a");
  CHECK(bench.turns->wait(late) == NodeTurns::Fate::kAgain);  // there may be room since it looked
  bench.turns->go_on("ann");
  CHECK(bench.given_back() == "ab");
  CHECK(bench.turns->wait(late) == NodeTurns::Fate::kNever);
  late.reset();  // its turn ends
  CHECK(bench.given_back() == "abc");
  CHECK(bench.turns->take_all().empty());
}

TEST_CASE("a task that was given back and goes before its turn leaves it to the next", "[nodes]") {
  Turns bench;
  TaskPtr runs = bench.begin("runs");
  for (const char* id : {"a", "b", "c"}) CHECK(bench.wait(id, *id) == NodeTurns::Fate::kWaits);
  runs.reset();
  CHECK(bench.given_back() == "a");
  TaskPtr a = std::move(bench.back.front());
  bench.back.clear();
  a.reset();
  CHECK(bench.given_back() == "b");
  bench.back.front()->turn = bench.turns->begin(*bench.back.front());
  CHECK(bench.given_back() == "b");  // c waits for the end of that
  TaskPtr b = std::move(bench.back.front());
  bench.back.clear();
  b.reset();
  CHECK(bench.given_back() == "c");
}

TEST_CASE("the end of one tenant's step may be of use to others", "[nodes]") {
  Turns bench;
  TaskPtr of_bob = bench.begin("runs", "bob");
  CHECK(bench.wait("a", 1) == NodeTurns::Fate::kWaits);
  CHECK(bench.wait("b", 2) == NodeTurns::Fate::kWaits);
  CHECK(bench.wait("c", 1, "bob") == NodeTurns::Fate::kWaits);
  of_bob.reset();
  CHECK(bench.given_back() == "ac");  // one of each
  CHECK(bench.wait("d", 1) == NodeTurns::Fate::kNever);
}

TEST_CASE("what a step leaves waits for the end of others, and comes first", "[nodes]") {
  Turns bench;
  TaskPtr leaves = bench.begin("leaves"), runs = bench.begin("runs");
  CHECK(bench.wait("a") == NodeTurns::Fate::kWaits);
  std::atomic<int> tried{0};
  std::thread thread([&] {
    const auto hold = bench.turns->take(
        "ann", [&] { return ++tried > 1 ? std::make_shared<const int>() : nullptr; });
    if (!hold) tried = -1;
  });
  TaskPtr late = bench.begin("late");
  while (!bench.turns->gives_way(late)) std::this_thread::yield();
  runs.reset();
  thread.join();
  CHECK(tried == 2);
  CHECK(bench.back.empty());
  leaves.reset();
  CHECK(bench.given_back() == "a");
  CHECK(bench.turns->take_all().size() == 1);
}

TEST_CASE("where all steps wait to leave something, one gives up", "[nodes]") {
  Turns bench;
  TaskPtr first = bench.begin("first"), second = bench.begin("second");
  std::atomic<int> room{0}, given_up{0}, kept{0};
  const auto leave = [&](TaskPtr& step) {
    const auto hold = bench.turns->take("ann", [&]() -> NodeBudget::Hold {
      return room > 0 ? std::make_shared<const int>() : nullptr;
    });
    (hold ? kept : given_up)++;
    ++room;  // by its end
    step.reset();
  };
  std::thread one([&] { leave(first); }), other([&] { leave(second); });
  one.join();
  other.join();
  CHECK(given_up == 1);
  CHECK(kept == 1);
}

TEST_CASE("what a step leaves does not wait for ever", "[nodes]") {
  const auto turns = std::make_shared<NodeTurns>([](TaskPtr) {}, std::chrono::milliseconds(1));
  const auto runs = turns->begin("ann"), leaves = turns->begin("ann");
  CHECK_FALSE(turns->take("ann", [] { return nullptr; }));
}

}  // namespace runtime
