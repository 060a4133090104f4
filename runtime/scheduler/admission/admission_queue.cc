#include "runtime/scheduler/admission/admission_queue.h"

#include <utility>

#include "runtime/sessions/node_store.h"

namespace runtime {

namespace {

TaskPtr take_front(std::deque<TaskPtr>& queue) {
  TaskPtr task = std::move(queue.front());
  queue.pop_front();
  return task;
}

}  // namespace

std::deque<TaskPtr>& AdmissionQueue::queue_of(const Task& task) {
  Queues& queues = task.job.node ? bound_[task.job.node->shard].queues : queues_;
  return queues[task.job.priority];
}

void AdmissionQueue::put(TaskPtr task) {
  std::lock_guard lock(mutex_);
  shares_.seen(task->client(), task->accepted_at);
  std::deque<TaskPtr>& queue = queue_of(*task);
  queue.push_back(std::move(task));
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
  std::deque<TaskPtr>& queue = queue_of(*task);
  queue.push_front(std::move(task));
}

bool AdmissionQueue::has_bound(unsigned shard) {
  std::lock_guard lock(mutex_);
  return bound_.contains(shard);
}

bool AdmissionQueue::empty() {
  std::lock_guard lock(mutex_);
  return due_.empty() && queues_.empty();
}

TaskPtr AdmissionQueue::take(sys::Nanoseconds now, unsigned shard) {
  std::lock_guard lock(mutex_);
  return take_first(now, shard);
}

TaskPtr AdmissionQueue::take_side(sys::Nanoseconds now) {
  std::lock_guard lock(mutex_);
  if (!due_.empty()) return take_due();
  const std::optional<Place> first = first_place(queues_, now);
  return first && (*first->task)->job.pairing ? take_from(queues_, *first) : nullptr;
}

void AdmissionQueue::left(const std::string& client) {
  std::lock_guard lock(mutex_);
  shares_.ended(client);
}

std::optional<AdmissionQueue::Place> AdmissionQueue::first_place(Queues& queues,
                                                                 sys::Nanoseconds now) {
  for (auto queue = queues.begin(); queue != queues.end(); ++queue) {
    for (auto task = queue->second.begin(); task != queue->second.end(); ++task) {
      const size_t count = (*task)->job.pairing ? 2 : 1;
      if (shares_.may_begin((*task)->client(), count, now)) return Place{queue, task};
    }
  }
  return std::nullopt;
}

std::optional<AdmissionQueue::Place> AdmissionQueue::next_place(Bound& bound,
                                                                sys::Nanoseconds now) {
  const auto turn_of = [&bound](const TaskPtr& task) {
    const auto found = bound.turns.find(task->client());
    return found == bound.turns.end() ? 0 : found->second;
  };
  std::optional<Place> next = first_place(bound.queues, now);
  if (!next) return next;
  for (auto task = next->task; task != next->queue->second.end(); ++task) {
    const bool comes_first = turn_of(*task) < turn_of(*next->task);
    if (comes_first && shares_.may_begin((*task)->client(), 1, now)) next->task = task;
  }
  return next;
}

TaskPtr AdmissionQueue::take_due() {
  TaskPtr task = take_front(due_);
  shares_.began(task->client());
  return task;
}

TaskPtr AdmissionQueue::take_first(sys::Nanoseconds now, unsigned shard) {
  if (!due_.empty()) return take_due();
  const std::optional<Place> first = first_place(queues_, now);
  const auto own = bound_.find(shard);
  const std::optional<Place> bound =
      own == bound_.end() ? std::nullopt : next_place(own->second, now);
  const auto comes_first = [](const Place& place) {
    return std::pair(-place.queue->first, (*place.task)->accepted_at);
  };
  if (!bound || (first && comes_first(*first) <= comes_first(*bound)))
    return first ? take_from(queues_, *first) : nullptr;
  TaskPtr task = take_from(own->second.queues, *bound);
  own->second.turns[task->client()] = ++turn_;
  if (own->second.queues.empty()) bound_.erase(own);
  return task;
}

TaskPtr AdmissionQueue::take_from(Queues& queues, Place place) {
  std::deque<TaskPtr>& queue = place.queue->second;
  TaskPtr task = std::move(*place.task);
  place.task = queue.erase(place.task);
  const auto& pairing = task->job.pairing;
  if (pairing && place.task != queue.end() && (*place.task)->job.pairing == pairing) {
    due_.push_back(std::move(*place.task));
    queue.erase(place.task);
  }
  if (queue.empty()) queues.erase(place.queue);
  shares_.began(task->client());
  return task;
}

std::deque<TaskPtr> AdmissionQueue::take_all() {
  std::lock_guard lock(mutex_);
  std::deque<TaskPtr> all = std::exchange(due_, {});
  const auto take_from = [&all](Queues& queues) {
    for (auto& [priority, queue] : queues) {
      for (TaskPtr& task : queue) all.push_back(std::move(task));
    }
    queues.clear();
  };
  take_from(queues_);
  for (auto& [shard, bound] : bound_) take_from(bound.queues);
  bound_.clear();
  return all;
}

std::deque<TaskPtr> AdmissionQueue::take_withdrawn() {
  std::lock_guard lock(mutex_);
  std::deque<TaskPtr> taken;
  const auto take_from = [&taken](std::deque<TaskPtr>& queue) {
    std::deque<TaskPtr> stay;
    for (TaskPtr& task : queue)
      (task->job.is_withdrawn() ? taken : stay).push_back(std::move(task));
    queue = std::move(stay);
  };
  const auto take_from_all = [&take_from](Queues& queues) {
    for (auto& [priority, queue] : queues) take_from(queue);
    std::erase_if(queues, [](const auto& each) { return each.second.empty(); });
  };
  take_from(due_);
  take_from_all(queues_);
  for (auto& [shard, bound] : bound_) take_from_all(bound.queues);
  std::erase_if(bound_, [](const auto& each) { return each.second.queues.empty(); });
  return taken;
}

}  // namespace runtime
