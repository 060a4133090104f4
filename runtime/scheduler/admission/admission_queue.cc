#include "runtime/scheduler/admission/admission_queue.h"

#include <utility>

namespace runtime {

namespace {

TaskPtr take_front(std::deque<TaskPtr>& queue) {
  TaskPtr task = std::move(queue.front());
  queue.pop_front();
  return task;
}

}  // namespace

void AdmissionQueue::put(TaskPtr task) {
  std::lock_guard lock(mutex_);
  shares_.seen(task->client(), task->accepted_at);
  queues_[task->job.priority].push_back(std::move(task));
}

void AdmissionQueue::put_both(TaskPtr first, TaskPtr second) {
  std::lock_guard lock(mutex_);
  shares_.seen(first->client(), first->accepted_at);
  std::deque<TaskPtr>& queue = queues_[first->job.priority];
  queue.push_back(std::move(first));
  queue.push_back(std::move(second));
}

bool AdmissionQueue::has_side_due() {
  std::lock_guard lock(mutex_);
  return !due_.empty();
}

void AdmissionQueue::put_back(TaskPtr task) {
  std::lock_guard lock(mutex_);
  queues_[task->job.priority].push_front(std::move(task));
}

bool AdmissionQueue::empty() {
  std::lock_guard lock(mutex_);
  return due_.empty() && queues_.empty();
}

TaskPtr AdmissionQueue::take(sys::Nanoseconds now) {
  std::lock_guard lock(mutex_);
  return take_first(now);
}

TaskPtr AdmissionQueue::take_side(sys::Nanoseconds now) {
  std::lock_guard lock(mutex_);
  if (!due_.empty()) return take_first(now);
  const std::optional<Place> first = first_place(now);
  return first && (*first->task)->job.pairing ? take_from(*first) : nullptr;
}

void AdmissionQueue::left(const std::string& client) {
  std::lock_guard lock(mutex_);
  shares_.ended(client);
}

std::optional<AdmissionQueue::Place> AdmissionQueue::first_place(sys::Nanoseconds now) {
  for (auto queue = queues_.begin(); queue != queues_.end(); ++queue) {
    for (auto task = queue->second.begin(); task != queue->second.end(); ++task) {
      const size_t count = (*task)->job.pairing ? 2 : 1;
      if (shares_.may_begin((*task)->client(), count, now)) return Place{queue, task};
    }
  }
  return std::nullopt;
}

TaskPtr AdmissionQueue::take_first(sys::Nanoseconds now) {
  if (!due_.empty()) {
    TaskPtr task = take_front(due_);
    shares_.began(task->client());
    return task;
  }
  const std::optional<Place> first = first_place(now);
  return first ? take_from(*first) : nullptr;
}

TaskPtr AdmissionQueue::take_from(Place place) {
  std::deque<TaskPtr>& queue = place.queue->second;
  TaskPtr task = std::move(*place.task);
  place.task = queue.erase(place.task);
  const auto& pairing = task->job.pairing;
  if (pairing && place.task != queue.end() && (*place.task)->job.pairing == pairing) {
    due_.push_back(std::move(*place.task));
    queue.erase(place.task);
  }
  if (queue.empty()) queues_.erase(place.queue);
  shares_.began(task->client());
  return task;
}

std::deque<TaskPtr> AdmissionQueue::take_all() {
  std::lock_guard lock(mutex_);
  std::deque<TaskPtr> all = std::exchange(due_, {});
  for (auto& [priority, queue] : queues_) {
    for (TaskPtr& task : queue) all.push_back(std::move(task));
  }
  queues_.clear();
  return all;
}

std::deque<TaskPtr> AdmissionQueue::take_withdrawn() {
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
