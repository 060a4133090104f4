// Tasks whose callers withdraw them, wherever they are, and signals for those that run.

#include <utility>

#include "runtime/job/live_io.h"
#include "runtime/scheduler/scheduler.h"

namespace runtime {

void Scheduler::drop_cancelled() {
  replies_.cancel_aside();
  for (auto& [key, zygote] : templates_.slots()) {
    for (TaskPtr& task : std::exchange(zygote.waiting, {})) {
      replies_.withdraw_leased(std::move(task));
    }
  }
  for (CellSlot& slot : cells_.slots()) {
    if (slot.is_running()) {
      slot.cell->cancel();
    } else if (slot.task) {
      replies_.withdraw_leased(std::move(slot.task));
    }
  }
  // Last, and again: who waited for a build of theirs is back in the queue.
  for (auto all = admission_.take_all(); !all.empty(); all = admission_.take_all()) {
    for (TaskPtr& task : all) replies_.withdraw(std::move(task));
  }
}

// Those that are here. What waits for a compiler is looked at when it comes back, in place().
void Scheduler::drop_withdrawn() {
  for (TaskPtr& task : admission_.take_withdrawn()) replies_.withdraw(std::move(task));
  for (auto& [key, zygote] : templates_.slots()) {
    for (TaskPtr& task : std::exchange(zygote.waiting, {})) {
      if (!task->job.is_withdrawn()) {
        zygote.waiting.push_back(std::move(task));
        continue;
      }
      replies_.withdraw_leased(std::move(task));
    }
  }
  for (CellSlot& slot : cells_.slots()) {
    if (!slot.task || slot.task->build || !slot.task->job.is_withdrawn()) continue;
    if (slot.is_running()) {
      slot.cell->cancel();
    } else {
      replies_.withdraw_leased(std::move(slot.task));
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
