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
  // there is none. The worker is its client's until left(). Steps that go on from a node are for
  // the shard that has its template process, and the others see nothing of them.
  TaskPtr take(sys::Nanoseconds now, unsigned shard = 0);
  TaskPtr take_side(
      sys::Nanoseconds now);       // the same, if that is a side of a conversation; else null
  bool has_bound(unsigned shard);  // one waits that only this shard can run
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
  std::optional<Place> first_place(Queues& queues, sys::Nanoseconds now);
  TaskPtr take_due();
  TaskPtr take_first(sys::Nanoseconds now, unsigned shard);
  TaskPtr take_from(Queues& queues, Place place);
  std::deque<TaskPtr>& queue_of(const Task& task);

  std::mutex mutex_;
  Shares shares_;
  std::deque<TaskPtr> due_;  // sides whose other side was taken
  Queues queues_;
  // What only one shard can run. Its clients take turns: all the others' workers are of no use to
  // who waits behind another's many.
  struct Bound {
    Queues queues;
    std::map<std::string, uint64_t> turns;  // when a client had its last one
  };
  std::optional<Place> next_place(Bound& bound, sys::Nanoseconds now);
  std::map<unsigned, Bound> bound_;  // by shard; no empty ones
  uint64_t turn_ = 0;
};

}  // namespace runtime
