#include "runtime/scheduler/cancellation.h"

#include <utility>

namespace runtime {

void Cancellation::drop_all() {
  replies_.cancel_aside();
  if (TaskPtr task = retrial_.take()) replies_.withdraw_leased(std::move(task));
  for (auto& [key, zygote] : templates_.slots()) {
    for (TaskPtr& task : std::exchange(zygote.waiting, {})) {
      replies_.withdraw_leased(std::move(task));
    }
  }
  for (CellSlot& slot : cells_.slots()) {
    if (slot.waits) replies_.withdraw_leased(std::move(slot.waits));
    if (slot.is_running()) {
      slot.cell->cancel();
    } else if (slot.is_standing_by()) {
      slot.task.reset();
    } else if (slot.task) {
      replies_.withdraw_leased(std::move(slot.task));
    }
  }
  for (TaskPtr& task : turns_.take_all()) replies_.withdraw(std::move(task));
  // Last, and again: who waited for a build of theirs is back in the queue.
  for (auto all = admission_.take_all(); !all.empty(); all = admission_.take_all()) {
    for (TaskPtr& task : all) replies_.withdraw(std::move(task));
  }
}

void Cancellation::drop_withdrawn() {
  for (TaskPtr& task : admission_.take_withdrawn()) replies_.withdraw(std::move(task));
  for (TaskPtr& task : turns_.take_withdrawn()) replies_.withdraw(std::move(task));
  if (retrial_.is_withdrawn()) replies_.withdraw_leased(retrial_.take());
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
    if (slot.waits && slot.waits->job.is_withdrawn())
      replies_.withdraw_leased(std::move(slot.waits));
    if (!slot.task || slot.task->build || !slot.task->job.is_withdrawn()) continue;
    if (slot.is_running()) {
      slot.cell->cancel();
    } else {
      replies_.withdraw_leased(std::move(slot.task));
    }
  }
}

}  // namespace runtime
