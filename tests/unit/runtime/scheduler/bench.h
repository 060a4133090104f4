#pragma once
// Bench: one scheduler on a fake machine; what a test does to it, the loop would do.

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "runtime/scheduler/scheduler.h"
#include "runtime/sessions/node_store.h"
#include "tests/unit/runtime/scheduler/fake_machine.h"

namespace runtime::fake {

struct Bench {
  inline static const NodesPlan kLong{.idle = std::chrono::hours(24)};

  explicit Bench(unsigned workers = 2, NodesPlan plan = kLong,
                 sys::Nanoseconds steps_stay = SchedulerPlan().steps_stay)
      : nodes(std::make_shared<NodeStore>(std::move(plan))),
        admission(workers),
        capacity(workers, {}),
        scheduler(machine, catalogue, admission, capacity,
                  {workers, 0, {}, {}, nodes, 0, steps_stay}) {}
  ~Bench() { scheduler.end_all(); }

  static Job job(const std::string& id, const std::string& name = "python") {
    Job job;
    job.id = id;
    job.template_name = name;
    job.source = "a source";
    return job;
  }
  void submit(Job job) {
    admission.put(client.task(std::move(job), machine.time));
    scheduler.turn();
  }
  void turn() {
    while (std::exchange(machine.woken, false)) scheduler.turn();
  }
  void pass(sys::Nanoseconds time) {
    machine.time += time;
    if (machine.ask_at && *machine.ask_at <= machine.time) {
      machine.ask_at.reset();
      scheduler.turn();
    }
    if (machine.vacate_at && *machine.vacate_at <= machine.time) {
      machine.vacate_at.reset();
      scheduler.vacate_idle();
    }
    if (machine.stand_by_at && *machine.stand_by_at <= machine.time) {
      machine.stand_by_at.reset();
      scheduler.stand_by();
    }
    if (machine.age_at && *machine.age_at <= machine.time) {
      machine.age_at.reset();
      scheduler.drop_aged();
    }
    turn();
  }
  void ready_template() {
    machine.templates.back()->become_ready();
    turn();
  }
  FakeCell& ready_cell() {
    FakeCell& cell = *machine.cells.back();
    cell.become_ready();
    turn();
    return cell;
  }
  // A job that has come as far as to run.
  FakeCell& run(const std::string& id, const std::string& name = "python") {
    submit(job(id, name));
    if (machine.templates.back()->state() == TemplateHandle::State::kStarting) ready_template();
    if (machine.cells.back()->state() == CellHandle::State::kStarting) ready_cell();
    return *machine.cells.back();
  }
  std::string label(const std::string& id) const { return client.label(id); }

  FakeMachine machine;
  FakeCatalogue catalogue;
  FakeClient client;
  const std::shared_ptr<NodeStore> nodes;
  AdmissionQueue admission;
  Capacity capacity;
  Scheduler scheduler;
};

inline Job withdrawable(const std::string& id, const std::string& name = "python") {
  Job job = Bench::job(id, name);
  job.watch = std::make_shared<JobWatch>();
  return job;
}

struct OtherScheduler : Peer {
  unsigned load() const override { return busy; }
  bool has_room() const override { return busy < 2; }
  bool takes_in() const override { return has_room() && !holds_back; }
  bool has_templates() const override { return warm; }
  void wake() override { ++woken; }
  void wake_if_idle() override { ++woken; }
  void ask_back() override { ++asked; }
  unsigned busy = 0, woken = 0, asked = 0;
  bool warm = true, holds_back = false;
};

}  // namespace runtime::fake
