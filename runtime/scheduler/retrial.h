#pragma once
// Retrial: a job that has met its wall deadline while the machine was slow, in a way of which
// nobody can say how much the job lost by it (Slowness), is judged anew: it runs again, once, and
// only that verdict is told.
//
// A program can make a machine slow itself, so nothing is to be gained by it but the one run: runs
// are rationed over all jobs and those of each payer (RerunBudget), one at a time is under way in
// an engine, and it takes no more than the worker that its job has already. It is alone on its
// shard where that costs others nothing: it begins when all others there have ended, but at once
// where jobs wait for a worker; and while it runs, other shards take new jobs first. On the
// scheduler's thread, but for weight().

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "runtime/scheduler/admission/admission_queue.h"
#include "runtime/scheduler/machine.h"
#include "runtime/scheduler/task.h"

namespace runtime {

// How often the schedulers of an engine may run a job again. Thread-safe.
class RerunBudget : public std::enable_shared_from_this<RerunBudget> {
 public:
  // A run in so many may be one again. The first is there at the start.
  static constexpr unsigned kJobsEach = 100;
  // So many can be saved up: by all together, and by one payer.
  static constexpr unsigned kMostSaved = 8, kMostSavedByOne = 2;
  // Where there are more, all are forgotten, and begin anew; what all may have together holds.
  static constexpr size_t kMostPayers = 4096;

  void count_run(const std::string& payer);
  // The place of the one that is run again, until it is dropped; null: there is none.
  std::shared_ptr<void> take(const std::string& payer);

 private:
  unsigned& savings_of(const std::string& payer);

  std::mutex mutex_;
  bool is_taken_ = false;
  unsigned saved_ = kJobsEach;  // in runs
  std::map<std::string, unsigned> saved_by_;
};

// Why the machine may be to blame for a verdict.
enum class Doubt : uint8_t {
  kNone,
  kStopped,    // the job met its wall deadline while the machine was slow
  kEndedLate,  // it ended after its wall deadline, at which the daemon itself had no CPU
};
Doubt doubt_of(const Evidence& seen);

class Retrial {
 public:
  // It waits for being alone for no longer, and no longer than its own wall limit.
  static constexpr sys::Nanoseconds kPatience = std::chrono::seconds(1);
  static constexpr sys::Nanoseconds kLookAgain = std::chrono::milliseconds(20);

  Retrial(Machine& machine, AdmissionQueue& admission, std::shared_ptr<RerunBudget> budget)
      : machine_(machine),
        admission_(admission),
        budget_(budget ? std::move(budget) : std::make_shared<RerunBudget>()) {}

  // A run has ended with this result. Null: the task is kept, to be run again.
  TaskPtr judge(TaskPtr task, const JobResult& result, Doubt doubt);
  // The task that is kept, if its time to run has come. `leased`: tasks of this shard.
  TaskPtr take_due(unsigned leased);
  TaskPtr take() { return std::move(waiting_); }
  bool is_withdrawn() const { return waiting_ && waiting_->job.is_withdrawn(); }

  // Of this shard, for others that compare its load with theirs.
  unsigned weight() const { return *under_way_ > 0 ? kWeight : 0; }

 private:
  static constexpr unsigned kWeight = 1'000'000;  // more than any shard has jobs

  Machine& machine_;
  AdmissionQueue& admission_;
  const std::shared_ptr<RerunBudget> budget_;
  // Of this shard; shared with their places.
  const std::shared_ptr<std::atomic<unsigned>> under_way_ =
      std::make_shared<std::atomic<unsigned>>(0);
  TaskPtr waiting_;
  sys::Nanoseconds since_{};
};

}  // namespace runtime
