// The end of a task's way through the scheduler: from a run's evidence to the one reply.

#include <memory>
#include <utility>

#include "runtime/job/live_io.h"
#include "runtime/job/micros.h"
#include "runtime/job/outcome.h"
#include "runtime/judging/determinism.h"
#include "runtime/judging/judge.h"
#include "runtime/scheduler/artefact_store.h"
#include "runtime/scheduler/scheduler.h"

namespace runtime {

using sys::Nanoseconds;

namespace {

// Of a job that did not run.
JobResult result_of(const Job& job, Verdict verdict) {
  JobResult result;
  result.id = job.id;
  result.tag = job.tag;
  result.verdict = std::move(verdict);
  return result;
}

bool is_short(const JobResult& result) { return bytes_made(result) <= Machine::kShort; }

}  // namespace

JobResult Scheduler::assemble(Task& task, const CellSlot& slot, RunResult run) {
  Nanoseconds begin = machine_.now();
  JobResult result;
  result.id = task.job.id;
  result.tag = task.job.tag;
  result.verdict = judge(run.evidence, run.testimony);
  if (run.ran) result.exit = run.evidence.exit;
  result.ended_at = run.ended_at;
  result.out = std::move(run.out);
  result.err = std::move(run.err);
  result.held = std::move(run.held);
  // Behind a value the core ends with 0: one that stands beside another end was put there by
  // somebody else.
  const ExitStatus& exit = run.evidence.exit;
  if (!exit.signalled && exit.code == 0) result.value = std::move(run.testimony.value);
  result.array = task.job.array;
  if (task.artefact) result.compile = CompileReport{!task.compiled_here, task.artefact->built_us};
  result.exception = std::move(run.testimony.exception);
  result.files = std::move(run.files);
  result.observed = std::move(run.observed);
  result.usage = run.usage;
  result.timing = run.timing;
  result.timing.admit = micros(task.admitted_at - task.accepted_at);
  result.timing.lease = task.run == 0 ? micros(task.leased_at - task.admitted_at) : 0;
  result.enforced = slot.cell->layers();
  result.level = catalogue_.level();
  if (const TemplateSlot* zygote = templates_.find(slot.zygote))
    result.template_id = zygote->zygote->identity();
  result.timing.judge = micros(machine_.now() - begin);
  return result;
}

// A run has a verdict: compare, run again under the next seed, or reply.
void Scheduler::conclude(TaskPtr task, JobResult result) {
  if (task->job.determinism_runs <= 1) return reply(std::move(task), std::move(result));
  ++task->run;
  if (task->first) {
    const bool our_fault = result.verdict.by == By::kSandbox || result.verdict.by == By::kCaller;
    if (our_fault) return reply(std::move(task), std::move(result));
    return compare(std::move(task), std::move(result));
  }
  result.determinism = DeterminismReport{1, true, "", ""};
  if (stands_alone(result.verdict)) return reply(std::move(task), std::move(result));
  task->first = std::move(result);
  go_on_comparing(std::move(task));
}

void Scheduler::compare(TaskPtr task, JobResult later) {
  if (is_short(later) && is_short(*task->first)) {
    compare_runs(*task->first, later, task->run);
    return go_on_comparing(std::move(task));
  }
  auto other = std::make_shared<JobResult>(std::move(later));
  work_aside(
      std::move(task),
      [other](Task& each) {
        compare_runs(*each.first, *other, each.run);
        *other = {};
      },
      [this](TaskPtr compared) { go_on_comparing(std::move(compared)); });
}

void Scheduler::go_on_comparing(TaskPtr task) {
  if (!task->first->determinism->same || task->run >= task->job.determinism_runs) {
    JobResult first = std::move(*task->first);
    return reply(std::move(task), std::move(first));
  }
  place(std::move(task));
}

void Scheduler::reply(TaskPtr task, JobResult result) {
  let_go(task->client());
  take_leave(*task);
  deliver(std::move(task), std::move(result));
}

// The caller writes the result down, and how long that takes is of the job's making: a long one is
// delivered by another thread than ours.
void Scheduler::deliver(TaskPtr task, JobResult result) {
  if (is_short(result)) return task->done(std::move(result));
  struct Delivery {
    TaskPtr task;
    JobResult result;
  };
  auto delivery = std::make_shared<Delivery>(Delivery{std::move(task), std::move(result)});
  machine_.aside([delivery] { delivery->task->done(std::move(delivery->result)); }, {});
}

// Of those who count on it: the other side of a conversation, and all who want what it was to
// build.
void Scheduler::take_leave(Task& task) {
  if (const std::shared_ptr<InteractivePair>& pairing = task.job.pairing) {
    pairing->sent(task.job.side);  // before the other side hears of it and closes its own
    pairing->leave();
  }
  if (task.build) return_waiting(catalogue_.artefacts().give_up(task.artefact_key));
}

void Scheduler::fail(TaskPtr task, const Evidence::Fault& fault) {
  Evidence seen;
  seen.fault = fault;
  JobResult result = result_of(task->job, judge(seen, {}));
  reply(std::move(task), std::move(result));
}

void Scheduler::refuse(TaskPtr task, const std::string& message) {
  Verdict verdict{Outcome::kBadJob, "", By::kCaller, {{"message", message}}};
  JobResult result = result_of(task->job, std::move(verdict));
  reply(std::move(task), std::move(result));
}

// The caller withdrew it before it ran. Not counted as leased here.
void Scheduler::withdraw(TaskPtr task) {
  Evidence seen;
  seen.cancelled = true;
  JobResult result = result_of(task->job, judge(seen, {}));
  take_leave(*task);
  task->done(std::move(result));
}

// Work of a job's making that may be long. Its task keeps its worker meanwhile.
void Scheduler::work_aside(TaskPtr task, std::function<void(Task&)> work,
                           std::function<void(TaskPtr)> then) {
  ++aside_;
  auto held = std::make_shared<TaskPtr>(std::move(task));
  machine_.aside([held, work = std::move(work)] { work(**held); },
                 [this, held, then = std::move(then), cancels = cancels_] {
                   --aside_;
                   if (cancels == cancels_) {
                     then(std::move(*held));
                   } else {
                     let_go((*held)->client());
                     withdraw(std::move(*held));
                   }
                   wake();  // it had a worker and has left it: another may take its place
                 });
}

void Scheduler::drop_cancelled() {
  ++cancels_;  // of what is aside, too
  for (auto& [key, zygote] : templates_.slots()) {
    for (TaskPtr& task : std::exchange(zygote.waiting, {})) {
      let_go(task->client());
      withdraw(std::move(task));
    }
  }
  for (CellSlot& slot : cells_.slots()) {
    if (slot.is_running()) {
      slot.cell->cancel();
    } else if (slot.task) {
      let_go(slot.task->client());
      withdraw(std::move(slot.task));
    }
  }
  // Last, and again: who waited for a build of theirs is back in the queue.
  for (auto all = admission_.take_all(); !all.empty(); all = admission_.take_all()) {
    for (TaskPtr& task : all) withdraw(std::move(task));
  }
}

// Those that are here. What waits for a compiler is looked at when it comes back, in place().
void Scheduler::drop_withdrawn() {
  for (TaskPtr& task : admission_.take_withdrawn()) withdraw(std::move(task));
  for (auto& [key, zygote] : templates_.slots()) {
    for (TaskPtr& task : std::exchange(zygote.waiting, {})) {
      if (!task->job.is_withdrawn()) {
        zygote.waiting.push_back(std::move(task));
        continue;
      }
      let_go(task->client());
      withdraw(std::move(task));
    }
  }
  for (CellSlot& slot : cells_.slots()) {
    if (!slot.task || slot.task->build || !slot.task->job.is_withdrawn()) continue;
    if (slot.is_running()) {
      slot.cell->cancel();
    } else {
      let_go(slot.task->client());
      withdraw(std::move(slot.task));
    }
  }
}

// One that has not begun gets its signal when it has; see start_run().
void Scheduler::signal_running() {
  for (CellSlot& slot : cells_.slots()) {
    if (!slot.task || slot.task->build || !slot.task->job.live) continue;
    if (!slot.is_running()) continue;
    if (const int number = slot.task->job.live->take_signal()) slot.cell->signal(number);
  }
}

}  // namespace runtime
