#pragma once
// Peers: the other schedulers of one engine, as one of them sees them: which of them is to take the
// next task, because a task goes to the one that has the least to do. On the scheduler's thread.
//
// Whenever a task waits and a shard has room, a shard with room is about to look: one that finds
// the queue empty says so (Scheduler::idle) and is woken by submit(); one that leaves a task to
// another wakes it.

#include <utility>
#include <vector>

#include "runtime/scheduler/admission/admission_queue.h"
#include "runtime/scheduler/admission/capacity.h"
#include "runtime/scheduler/machine.h"

namespace runtime {

class Peers {
 public:
  Peers(const Peer& self, AdmissionQueue& admission, const Capacity& capacity)
      : self_(self), admission_(admission), capacity_(capacity) {}

  void set(std::vector<Peer*> others) { others_ = std::move(others); }

  // The one that is to take the task that waits; null: this one, or none waits.
  Peer* better_placed() const;
  // This one has no room: wakes one that has, if something waits for it.
  void hand_back() const;
  bool leaves_shards_out() const;  // the pool, because it is so narrow

  void wake_idle() const;
  void ask_back() const;

 private:
  Peer* freer() const;
  Peer* warmer() const;

  const Peer& self_;
  AdmissionQueue& admission_;
  const Capacity& capacity_;
  std::vector<Peer*> others_;
};

}  // namespace runtime
