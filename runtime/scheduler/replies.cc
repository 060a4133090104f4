#include "runtime/scheduler/replies.h"

#include <memory>
#include <utility>

#include "runtime/job/micros.h"
#include "runtime/job/outcome.h"
#include "runtime/judging/determinism.h"
#include "runtime/judging/judge.h"
#include "runtime/scheduler/artefact_store.h"

namespace runtime {

namespace {

JobResult result_of(const Job& job, Verdict verdict) {
  JobResult result;
  result.id = job.id;
  result.tag = job.tag;
  result.verdict = std::move(verdict);
  return result;
}

bool is_short(const JobResult& result) { return bytes_made(result) <= Machine::kShort; }

bool has_short_record(const Job& job) {
  return !job.recorded || job.recorded->json.size() <= Machine::kShort;
}

}  // namespace

JobResult result_of(const Task& task, RunResult run) {
  JobResult result = result_of(task.job, judge(run.evidence, run.testimony));
  if (run.ran) result.exit = run.evidence.exit;
  result.ended_at = run.ended_at;
  result.out = std::move(run.out);
  result.err = std::move(run.err);
  result.held = std::move(run.held);
  // Behind a value the core ends with 0: one that stands beside another end was put there by
  // somebody else.
  const ExitStatus& exit = run.evidence.exit;
  if (!exit.signalled && exit.code == 0) result.value = std::move(run.testimony.value);
  if (!exit.signalled && exit.code == 0) result.display = std::move(run.testimony.display);
  result.array = task.job.array;
  if (task.artefact) result.compile = CompileReport{!task.compiled_here, task.artefact->built_us};
  result.exception = std::move(run.testimony.exception);
  result.files = std::move(run.files);
  result.observed = std::move(run.observed);
  result.usage = run.usage;
  result.usage.reruns = task.reruns;
  result.usage.rerun_cpu_us = task.rerun_cpu_us;
  result.timing = run.timing;
  result.timing.admit = micros(task.admitted_at - task.accepted_at);
  result.timing.lease = task.run == 0 ? micros(task.leased_at - task.admitted_at) : 0;
  return result;
}

void Replies::let_go(const std::string& client) {
  --leased_;
  capacity_.leave();
  admission_.left(client);
}

void Replies::withdraw_leased(TaskPtr task) {
  let_go(task->client());
  withdraw(std::move(task));
}

void Replies::return_waiting(std::vector<TaskPtr> waiting) {
  if (waiting.empty()) return;
  for (TaskPtr& task : waiting) admission_.put(std::move(task));
  events_.returned();
}

// A run has a verdict: compare, run again under the next seed, or reply.
void Replies::conclude(TaskPtr task, JobResult result) {
  if (task->job.determinism_runs <= 1) return reply(std::move(task), std::move(result));
  ++task->run;
  if (task->first) {
    const bool our_fault = result.verdict.by == By::kSandbox || result.verdict.by == By::kCaller;
    if (our_fault) return reply(std::move(task), std::move(result));
    return compare(std::move(task), std::move(result));
  }
  if (!result.determinism) result.determinism.emplace();
  if (stands_alone(result.verdict)) return reply(std::move(task), std::move(result));
  task->first = std::move(result);
  go_on_comparing(std::move(task));
}

void Replies::compare(TaskPtr task, JobResult later) {
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

void Replies::go_on_comparing(TaskPtr task) {
  if (!task->first->determinism->same || task->run >= task->job.determinism_runs) {
    JobResult first = std::move(*task->first);
    return reply(std::move(task), std::move(first));
  }
  events_.place(std::move(task));
}

void Replies::reply(TaskPtr task, JobResult result) {
  let_go(task->client());
  take_leave(*task);
  deliver(std::move(task), std::move(result));
}

// The caller writes the result down, and how long that takes is of the job's making: a long one is
// delivered by another thread than ours.
void Replies::deliver(TaskPtr task, JobResult result) {
  if (is_short(result) && has_short_record(task->job)) return task->done(std::move(result));
  struct Delivery {
    TaskPtr task;
    JobResult result;
  };
  auto delivery = std::make_shared<Delivery>(Delivery{std::move(task), std::move(result)});
  machine_.aside([delivery] { delivery->task->done(std::move(delivery->result)); }, {});
}

// Releases those that count on the task: the other side of a conversation, and all that want what
// it was to build.
void Replies::take_leave(Task& task) {
  if (const std::shared_ptr<InteractivePair>& pairing = task.job.pairing) {
    pairing->sent(task.job.side);  // before the other side hears of it and closes its own
    pairing->leave();
  }
  if (task.build) return_waiting(catalogue_.artefacts().give_up(task.artefact_key));
}

void Replies::fail(TaskPtr task, const Evidence::Fault& fault) {
  Evidence seen;
  seen.fault = fault;
  JobResult result = result_of(task->job, judge(seen, {}));
  reply(std::move(task), std::move(result));
}

void Replies::refuse(TaskPtr task, const std::string& message) {
  Verdict verdict{Outcome::kBadJob, "", By::kCaller, {{"message", message}}};
  JobResult result = result_of(task->job, std::move(verdict));
  reply(std::move(task), std::move(result));
}

// The caller withdrew it before it ran. Not counted as leased here.
void Replies::withdraw(TaskPtr task) {
  Evidence seen;
  seen.cancelled = true;
  JobResult result = result_of(task->job, judge(seen, {}));
  take_leave(*task);
  task->done(std::move(result));
}

// Work of a job's making that may be long. Its task keeps its worker meanwhile.
void Replies::work_aside(TaskPtr task, std::function<void(Task&)> work,
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
                   machine_.wake();  // it had a worker and has left it: another may take its place
                 });
}

}  // namespace runtime
