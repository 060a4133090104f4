#include "runtime/task.h"

namespace runtime {

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
  return queues_.empty();
}

TaskPtr Admission::take() {
  std::lock_guard lock(mutex_);
  return take_first();
}

TaskPtr Admission::take_side() {
  std::lock_guard lock(mutex_);
  if (queues_.empty() || !queues_.begin()->second.front()->job.pairing) return nullptr;
  return take_first();
}

TaskPtr Admission::take_first() {
  if (queues_.empty()) return nullptr;
  auto best = queues_.begin();
  TaskPtr task = std::move(best->second.front());
  best->second.pop_front();
  if (best->second.empty()) queues_.erase(best);
  return task;
}

std::deque<TaskPtr> Admission::take_all() {
  std::lock_guard lock(mutex_);
  std::deque<TaskPtr> all;
  for (auto& [priority, queue] : queues_) {
    for (TaskPtr& task : queue) all.push_back(std::move(task));
  }
  queues_.clear();
  return all;
}

std::deque<TaskPtr> Admission::take_withdrawn() {
  std::lock_guard lock(mutex_);
  std::deque<TaskPtr> taken;
  for (auto queue = queues_.begin(); queue != queues_.end();) {
    std::deque<TaskPtr> stay;
    for (TaskPtr& task : queue->second)
      (task->job.is_withdrawn() ? taken : stay).push_back(std::move(task));
    queue->second = std::move(stay);
    queue = queue->second.empty() ? queues_.erase(queue) : std::next(queue);
  }
  return taken;
}

}  // namespace runtime
