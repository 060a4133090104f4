// What becomes of a task for which the machine has no room: no process, no memory, no descriptor.
//
// It never runs with less isolation, and its program is never blamed. One that had not begun waits
// in its place at the head of the queue; one that was ended in the middle is run again from the
// start, a few times, if what it reads can be given to it again. The pool becomes narrower
// meanwhile (capacity.h), and what is idle in it is given back. Only where not a single job could
// be run for a minute does a task end as a SandboxError, which says what was refused.

#include <cerrno>
#include <utility>

#include "runtime/scheduler/scheduler.h"

namespace runtime {

using shim::Step;
using sys::Nanoseconds;

namespace {

constexpr unsigned kRunsToLose = 8;
// A template that the kernel ends takes cells along, which are heard of one by one.
constexpr Nanoseconds kSameOom = std::chrono::seconds(2);

}  // namespace

// What it reads and writes is still ours to give.
bool Scheduler::can_begin_anew(const Job& job) {
  return !job.live && !job.pairing && !job.execution && job.stdin_fd < 0;
}

// Of the tasks there are the first, if the machine has room for it.
TaskPtr Scheduler::take_in() {
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

// Of what was found dead: it may be the kernel that wanted its memory.
Evidence::Fault Scheduler::cause_of(Evidence::Fault fault) {
  const bool died =
      fault.error == 0 && (fault.step == Step::kCell || fault.step == Step::kStartTemplate);
  const bool went_with_template = fault.error == ECHILD;
  if ((died || went_with_template) && memory_ran_out()) fault.error = ENOMEM;
  return fault;
}

bool Scheduler::memory_ran_out() {
  const Nanoseconds now = machine_.now();
  const uint64_t kills = machine_.oom_kills();
  if (std::exchange(ooms_seen_, kills) < kills) last_oom_ = now;
  return last_oom_ != Nanoseconds() && now - last_oom_ < kSameOom;
}

// Null: it waits in the queue, in front. Else its time to wait is over, or it may not.
TaskPtr Scheduler::await_room(TaskPtr task, const Evidence::Fault& fault) {
  const Nanoseconds now = machine_.now();
  capacity_.shrink(fault.name_of_step(), fault.error, now);
  short_of_room_ = true;
  wake();
  peers_.ask_back();
  machine_.ask_again(capacity_.patience(now));
  if (requests_.is_stopping() || task->job.pairing || capacity_.is_hopeless(now)) return task;
  task->input.reset();
  replies_.let_go(task->client());
  admission_.put_back(std::move(task));
  return nullptr;
}

// It had its cell. Null: it will be run again.
TaskPtr Scheduler::run_again(TaskPtr task, const Evidence::Fault& fault, bool ran) {
  if (!is_shortage(fault.error)) return task;
  if (!can_begin_anew(task->current()) || (ran && ++task->runs_lost >= kRunsToLose)) {
    capacity_.shrink(fault.name_of_step(), fault.error, machine_.now());
    return task;
  }
  return await_room(std::move(task), fault);
}

// It had no cell yet.
void Scheduler::fail_or_wait(TaskPtr task, const Evidence::Fault& fault) {
  if (is_shortage(fault.error)) task = await_room(std::move(task), fault);
  if (task) replies_.fail(std::move(task), fault);
}

// Cells that wait for jobs; and templates, where others are to do the work.
void Scheduler::give_back() {
  const bool asked = requests_.take(Requests::Kind::kGiveBack);
  if (!std::exchange(short_of_room_, false) && !asked) return;
  templates_.drop_idle_tenants(machine_.now());
  cells_.bury_if([](const CellSlot& slot) { return slot.is_idle(); });
  if (!asked || load() > 0 || !peers_.leaves_shards_out()) return;
  templates_.retire_all();
}

}  // namespace runtime
