#include "runtime/scheduler/retrial.h"

#include <algorithm>

namespace runtime {

using sys::Nanoseconds;

unsigned& RerunBudget::savings_of(const std::string& payer) {
  if (saved_by_.size() >= kMostPayers && !saved_by_.contains(payer)) saved_by_.clear();
  return saved_by_.emplace(payer, kJobsEach).first->second;
}

void RerunBudget::count_run(const std::string& payer) {
  std::lock_guard lock(mutex_);
  saved_ = std::min(saved_ + 1, kMostSaved * kJobsEach);
  unsigned& own = savings_of(payer);
  own = std::min(own + 1, kMostSavedByOne * kJobsEach);
}

std::shared_ptr<void> RerunBudget::take(const std::string& payer) {
  std::lock_guard lock(mutex_);
  unsigned& own = savings_of(payer);
  if (is_taken_ || saved_ < kJobsEach || own < kJobsEach) return nullptr;
  saved_ -= kJobsEach;
  own -= kJobsEach;
  is_taken_ = true;
  auto give_back = [self = shared_from_this()](void*) {
    std::lock_guard relock(self->mutex_);
    self->is_taken_ = false;
  };
  return {this, std::move(give_back)};
}

Doubt doubt_of(const Evidence& seen) {
  if (seen.ended_late && !seen.violation) return Doubt::kEndedLate;
  const bool stopped = seen.deadline == DeadlineKind::kWall && seen.slowed_by != Slowness::kNone;
  return stopped ? Doubt::kStopped : Doubt::kNone;
}

TaskPtr Retrial::judge(TaskPtr task, const JobResult& result, Doubt doubt) {
  if (std::exchange(task->rerun, nullptr)) return task;  // this was its second run
  budget_->count_run(task->payer());
  const bool was_stopped = result.verdict.outcome == Outcome::kTimeout;
  if (doubt == Doubt::kNone || (doubt == Doubt::kStopped && !was_stopped)) return task;
  if (task->reruns > 0 || waiting_ || !task->can_begin_anew() || task->job.is_withdrawn())
    return task;
  std::shared_ptr<void> place = budget_->take(task->payer());
  if (!place) return task;
  ++*under_way_;
  void* const key = place.get();
  task->rerun = {key, [place = std::move(place), count = under_way_](void*) { --*count; }};
  ++task->reruns;
  task->rerun_cpu_us += result.usage.cpu_us;
  waiting_ = std::move(task);
  since_ = machine_.now();
  machine_.ask_again(kLookAgain);
  return nullptr;
}

TaskPtr Retrial::take_due(unsigned leased) {
  if (!waiting_) return nullptr;
  const Nanoseconds patience = std::min<Nanoseconds>(kPatience, waiting_->current().limits.wall);
  const bool is_due = leased <= 1 || !admission_.empty() || machine_.now() - since_ >= patience;
  if (is_due) return std::move(waiting_);
  machine_.ask_again(kLookAgain);
  return nullptr;
}

}  // namespace runtime
