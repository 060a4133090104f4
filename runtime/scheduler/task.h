#pragma once
// Task: an accepted job on its way to its one result. Admission: the queue that the shards share,
// and nothing else. Thread-safe.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/cell/stdin_feed.h"
#include "runtime/job/job.h"
#include "runtime/job/result.h"
#include "runtime/scheduler/shares.h"
#include "sandbox/sys/units.h"

namespace runtime {

struct RuntimeSpec;

struct Task {
  Job job;
  std::function<void(JobResult)> done;
  sys::Nanoseconds accepted_at{}, admitted_at{}, leased_at{};
  std::string request;
  bool in_place = false;           // a warm interpreter may run it: see encode_request
  unsigned run = 0;                // which run of a determinism check is next
  std::optional<JobResult> first;  // of the first run
  std::unique_ptr<StdinFeed> stdin_feed;
  // Of a runtime that compiles: what is to be run, or, while it is being made, the job that makes
  // it.
  std::string artefact_key;
  std::shared_ptr<const Artefact> artefact;
  std::unique_ptr<Job> build;
  const RuntimeSpec* language = nullptr;  // of a command that is one of a runtime's programs
  bool compiled_here = false;             // by this task, not taken from the store
  unsigned runs_lost = 0;  // ended because the machine had no room: shard_shortage.cc
  unsigned starts_lost =
      0;  // its template or its cell was killed before it began: shard_templates.cc
  // The client that it counts for among others (Shares); empty: none.
  const std::string& client() const;
  // What is to run next.
  const Job& current() const { return build ? *build : job; }
};
using TaskPtr = std::unique_ptr<Task>;

class Admission {
 public:
  explicit Admission(size_t workers = 0) : shares_(workers) {}  // see Shares

  void put(TaskPtr task);
  // Two sides of a conversation, of one priority: who takes the first leaves the second to the
  // next, whatever else is there. Otherwise two such could each keep a place for a side that gets
  // none.
  void put_both(TaskPtr first, TaskPtr second);
  bool empty();
  void put_back(TaskPtr task);  // before all others of its priority
  // Highest priority first, then oldest, of those whose client may have one more worker; null:
  // there is none. The worker is its client's until left().
  TaskPtr take();
  TaskPtr take_side();  // the same, if that is a side of a conversation; else null
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
  std::optional<Place> first_place();
  TaskPtr take_first();
  TaskPtr take_from(Place place);

  std::mutex mutex_;
  Shares shares_;
  std::deque<TaskPtr> due_;  // sides whose other side was taken
  Queues queues_;
};

}  // namespace runtime
