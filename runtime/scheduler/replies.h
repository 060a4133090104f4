#pragma once
// Replies: the end of a task's way through the scheduler, from a run's result to the one reply; and
// the count of the tasks that are on their way. Work of a job's making that may be long is done
// beside the scheduler, and its task keeps its worker meanwhile. On the scheduler's thread, but for
// leased().

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/scheduler/admission/admission_queue.h"
#include "runtime/scheduler/admission/capacity.h"
#include "runtime/scheduler/catalogue.h"
#include "runtime/scheduler/machine.h"

namespace runtime {

// The result that a run gives its task. The scheduler adds the cell's and the template's part.
JobResult result_of(const Task& task, RunResult run);

class Replies {
 public:
  struct Events {
    std::function<void(TaskPtr)> place;  // the task is to run again
    std::function<void()> returned;      // tasks are back in the queue
  };
  Replies(Machine& machine, Catalogue& catalogue, AdmissionQueue& admission, Capacity& capacity,
          Events events)
      : machine_(machine),
        catalogue_(catalogue),
        admission_(admission),
        capacity_(capacity),
        events_(std::move(events)) {}

  // Tasks between admission and reply. Any thread.
  unsigned leased() const { return leased_; }
  void count_in() { ++leased_; }
  // One of this client's has left, by a reply or to the queue.
  void let_go(const std::string& client);

  // A run has a verdict: compare it, run the task again under the next seed, or reply.
  void conclude(TaskPtr task, JobResult result);
  // Each is the end of a task that was counted in.
  void reply(TaskPtr task, JobResult result);
  void fail(TaskPtr task, const Evidence::Fault& fault);
  void refuse(TaskPtr task, const std::string& message);
  void withdraw_leased(TaskPtr task);
  // The end of one that was not: its caller withdrew it before it was taken in.
  void withdraw(TaskPtr task);

  // Does `work` beside the scheduler, and `then` on its thread, unless all was cancelled meanwhile.
  void work_aside(TaskPtr task, std::function<void(Task&)> work, std::function<void(TaskPtr)> then);
  bool has_work_aside() const { return aside_ > 0; }
  void cancel_aside() { ++cancels_; }
  // Puts them into the queue again, from where any scheduler takes them.
  void return_waiting(std::vector<TaskPtr> waiting);

 private:
  void compare(TaskPtr task, JobResult later);
  void go_on_comparing(TaskPtr task);
  void deliver(TaskPtr task, JobResult result);
  void take_leave(Task& task);

  Machine& machine_;
  Catalogue& catalogue_;
  AdmissionQueue& admission_;
  Capacity& capacity_;
  const Events events_;
  std::atomic<unsigned> leased_{0};  // written by the scheduler's thread only
  size_t aside_ = 0;                 // tasks that others work for
  uint64_t cancels_ = 0;             // how often all that there was was cancelled
};

}  // namespace runtime
