#pragma once
// Shortage: the fate of a task for which the machine has no room: no process, no memory, no
// descriptor; and the admission of tasks, as many as it has room for. On the scheduler's thread.
//
// Such a task never runs with less isolation, and its program is never blamed. One that had not
// begun waits in its place at the head of the queue; one that was ended in the middle is run again
// from the start, a few times alone, if what it reads can be given to it again. The pool becomes
// narrower meanwhile (capacity.h), and what is idle in it is given back. Only where not a single
// job could be run for a minute does a task end as a SandboxError, which says what was refused.

#include <utility>

#include "runtime/scheduler/admission/admission_queue.h"
#include "runtime/scheduler/admission/capacity.h"
#include "runtime/scheduler/admission/peers.h"
#include "runtime/scheduler/machine.h"
#include "runtime/scheduler/replies.h"
#include "runtime/scheduler/requests.h"

namespace runtime {

class Shortage {
 public:
  Shortage(Machine& machine, AdmissionQueue& admission, Capacity& capacity, Replies& replies,
           const Peers& peers, const Requests& requests)
      : machine_(machine),
        admission_(admission),
        capacity_(capacity),
        replies_(replies),
        peers_(peers),
        requests_(requests),
        ooms_seen_(machine.oom_kills()) {}

  // The first task of the queue, if the machine has room for it; else null.
  TaskPtr take_in();
  // It waits in front of the queue, and has no worker meanwhile.
  void put_back(TaskPtr task);

  // The task had no cell yet: it waits for room, or fails.
  void fail_or_wait(TaskPtr task, const Evidence::Fault& fault);
  // The task had its cell. Null: it will be run again.
  TaskPtr run_again(TaskPtr task, const Evidence::Fault& fault, bool ran);
  // A task was refused room since the last call.
  bool take_refused() { return std::exchange(refused_, false); }

  // The fault of a process that was found dead, which the kernel may have killed for its memory.
  Evidence::Fault cause_of(Evidence::Fault fault);

 private:
  TaskPtr await_room(TaskPtr task, const Evidence::Fault& fault);
  bool memory_ran_out();

  Machine& machine_;
  AdmissionQueue& admission_;
  Capacity& capacity_;
  Replies& replies_;
  const Peers& peers_;
  const Requests& requests_;
  bool refused_ = false;
  uint64_t ooms_seen_;  // of the group that we live in
  sys::Nanoseconds last_oom_{};
};

}  // namespace runtime
