#pragma once
// Steps of sessions on a fake machine: what they leave is told, and no memory of a process.

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <utility>

#include "runtime/sessions/node_store.h"
#include "tests/unit/runtime/scheduler/bench.h"

namespace runtime::fake {

struct Sessions : Bench {
  explicit Sessions(NodesPlan plan = kLong) : Bench(2, std::move(plan)) {}
  explicit Sessions(sys::Nanoseconds steps_stay) : Bench(2, kLong, steps_stay) {}
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

}  // namespace runtime::fake
