// Tests of steps whose nodes have no room in memory, on a fake machine and a real disk.

#include <algorithm>
#include <catch2/catch.hpp>
#include <utility>

#include "tests/unit/runtime/scheduler/sessions.h"

namespace runtime {
namespace {

using fake::FakeCell;
using fake::Sessions;

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
  // Work beside the scheduler is done, and cells are ready.
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

// Three nodes, the first two of them on the disk.
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

}  // namespace runtime
