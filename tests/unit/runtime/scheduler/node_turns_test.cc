// Tests of whose turn it is, where the memory for nodes is short.

#include "runtime/scheduler/node_turns.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace runtime {
namespace {

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

}  // namespace

TEST_CASE("steps that wait for room have their turns in order", "[nodes]") {
  Turns bench;
  TaskPtr runs = bench.begin("runs");
  CHECK(bench.wait("b", 2) == NodeTurns::Fate::kWaits);
  CHECK(bench.wait("a", 1) == NodeTurns::Fate::kWaits);
  CHECK(bench.wait("c", 3) == NodeTurns::Fate::kWaits);
  CHECK(bench.turns->waiting() == 3);
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
