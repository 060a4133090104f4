#include "runtime/task.h"

#include <utility>

namespace runtime {

namespace {

TaskPtr take_front(std::deque<TaskPtr>& queue) {
  TaskPtr task = std::move(queue.front());
  queue.pop_front();
  return task;
}

}  // namespace

void Admission::put(TaskPtr task) {
  std::lock_guard lock(mutex_);
  queues_[task->job.priority].push_back(std::move(task));
}

void Admission::put_both(TaskPtr first, TaskPtr second) {
  std::lock_guard lock(mutex_);
  std::deque<TaskPtr>& queue = queues_[first->job.priority];
  queue.push_back(std::move(first));
  queue.push_back(std::move(second));
}

void Admission::put_back(TaskPtr task) {
  std::lock_guard lock(mutex_);
  queues_[task->job.priority].push_front(std::move(task));
}

bool Admission::empty() {
  std::lock_guard lock(mutex_);
  return due_.empty() && queues_.empty();
}

TaskPtr Admission::take() {
  std::lock_guard lock(mutex_);
  return take_first();
}

TaskPtr Admission::take_side() {
  std::lock_guard lock(mutex_);
  const bool is_side =
      !due_.empty() || (!queues_.empty() && queues_.begin()->second.front()->job.pairing);
  return is_side ? take_first() : nullptr;
}

TaskPtr Admission::take_first() {
  if (!due_.empty()) return take_front(due_);
  if (queues_.empty()) return nullptr;
  auto best = queues_.begin();
  std::deque<TaskPtr>& queue = best->second;
  TaskPtr task = take_front(queue);
  const auto& pairing = task->job.pairing;
  if (pairing && !queue.empty() && queue.front()->job.pairing == pairing)
    due_.push_back(take_front(queue));
  if (queue.empty()) queues_.erase(best);
  return task;
}

std::deque<TaskPtr> Admission::take_all() {
  std::lock_guard lock(mutex_);
  std::deque<TaskPtr> all = std::exchange(due_, {});
  for (auto& [priority, queue] : queues_) {
    for (TaskPtr& task : queue) all.push_back(std::move(task));
  }
  queues_.clear();
  return all;
}

std::deque<TaskPtr> Admission::take_withdrawn() {
  std::lock_guard lock(mutex_);
  std::deque<TaskPtr> taken;
  auto take_from = [&taken](std::deque<TaskPtr>& queue) {
    std::deque<TaskPtr> stay;
    for (TaskPtr& task : queue)
      (task->job.is_withdrawn() ? taken : stay).push_back(std::move(task));
    queue = std::move(stay);
  };
  take_from(due_);
  for (auto queue = queues_.begin(); queue != queues_.end();) {
    take_from(queue->second);
    queue = queue->second.empty() ? queues_.erase(queue) : std::next(queue);
  }
  return taken;
}

}  // namespace runtime
