#include "runtime/scheduler/shortage.h"

#include <cerrno>

namespace runtime {

using shim::Step;
using sys::Nanoseconds;

namespace {

// With others beside it, a task is ended for what they use as much as for what it uses itself.
constexpr unsigned kRunsToLoseAlone = 8, kRunsToLose = 32;
// A template that the kernel ends takes cells along, which are heard of one by one.
constexpr Nanoseconds kSameOom = std::chrono::seconds(2);

}  // namespace

TaskPtr Shortage::take_in() {
  const Nanoseconds now = machine_.now();
  TaskPtr task;
  if (capacity_.enter(now)) {
    task = admission_.take(now);
    if (!task) capacity_.leave();
  } else {
    if (capacity_.width() == 1) task = admission_.take_side(now);
    if (task) capacity_.enter_anyway();
    if (!task && !admission_.empty()) machine_.ask_again(capacity_.patience(now));
  }
  if (task) replies_.count_in();
  return task;
}

Evidence::Fault Shortage::cause_of(Evidence::Fault fault) {
  const bool died =
      fault.error == 0 && (fault.step == Step::kCell || fault.step == Step::kStartTemplate);
  const bool went_with_template = fault.error == ECHILD;
  if ((died || went_with_template) && memory_ran_out()) fault.error = ENOMEM;
  return fault;
}

bool Shortage::memory_ran_out() {
  const Nanoseconds now = machine_.now();
  const uint64_t kills = machine_.oom_kills();
  if (std::exchange(ooms_seen_, kills) < kills) last_oom_ = now;
  return last_oom_ != Nanoseconds() && now - last_oom_ < kSameOom;
}

// Null: the task waits in front of the queue. Else its time to wait is over, or it may not wait.
TaskPtr Shortage::await_room(TaskPtr task, const Evidence::Fault& fault) {
  const Nanoseconds now = machine_.now();
  capacity_.shrink(fault.name_of_step(), fault.error, now, task->lost_alone);
  refused_ = true;
  machine_.wake();
  peers_.ask_back();
  machine_.ask_again(capacity_.patience(now));
  if (requests_.is_stopping() || task->job.pairing || capacity_.is_hopeless(now)) return task;
  put_back(std::move(task));
  return nullptr;
}

void Shortage::put_back(TaskPtr task) {
  task->input.reset();
  task->visit.reset();
  task->state.reset();
  task->turn.reset();
  replies_.let_go(task->client());
  admission_.put_back(std::move(task));
  machine_.wake();
}

TaskPtr Shortage::run_again(TaskPtr task, const Evidence::Fault& fault, bool ran) {
  if (!is_shortage(fault.error)) return task;
  if (ran) ++task->runs_lost;
  if (ran && capacity_.is_alone()) ++task->lost_alone;
  const bool too_often = task->lost_alone >= kRunsToLoseAlone || task->runs_lost >= kRunsToLose;
  if (!task->can_begin_anew() || (ran && too_often)) {
    capacity_.shrink(fault.name_of_step(), fault.error, machine_.now());
    return task;
  }
  return await_room(std::move(task), fault);
}

void Shortage::fail_or_wait(TaskPtr task, const Evidence::Fault& fault) {
  if (is_shortage(fault.error)) task = await_room(std::move(task), fault);
  if (task) replies_.fail(std::move(task), fault);
}

}  // namespace runtime
