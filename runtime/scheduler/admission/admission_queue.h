#pragma once
// AdmissionQueue: the queue that the shards share. Thread-safe.

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/scheduler/admission/shares.h"
#include "runtime/scheduler/task.h"

namespace runtime {

class AdmissionQueue {
 public:
  explicit AdmissionQueue(size_t workers = 0) : shares_(workers) {}  // see Shares

  void put(TaskPtr task);
  // Two sides of a conversation, of one priority: who takes the first leaves the second to the
  // next, whatever else is there. Otherwise two such could each keep a place for a side that gets
  // none.
  void put_both(TaskPtr first, TaskPtr second);
  bool empty();
  bool has_side_due();  // the other side of a conversation that was taken waits for its worker
  void put_back(TaskPtr task);  // before all others of its priority
  // Highest priority first, then oldest, of those whose client may have one more worker; null:
  // there is none. The worker is its client's until left().
  TaskPtr take(sys::Nanoseconds now);
  TaskPtr take_side(
      sys::Nanoseconds now);  // the same, if that is a side of a conversation; else null
  void left(const std::string& client);
  std::deque<TaskPtr> take_all();
  std::deque<TaskPtr> take_withdrawn();

 private:
  // Under the lock.
  using Queues = std::map<int, std::deque<TaskPtr>, std::greater<>>;
  struct Place {
    Queues::iterator queue;
    std::deque<TaskPtr>::iterator task;
  };
  std::optional<Place> first_place(sys::Nanoseconds now);
  TaskPtr take_first(sys::Nanoseconds now);
  TaskPtr take_from(Place place);

  std::mutex mutex_;
  Shares shares_;
  std::deque<TaskPtr> due_;  // sides whose other side was taken
  Queues queues_;
};

}  // namespace runtime
