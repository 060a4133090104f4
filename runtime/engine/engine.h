#pragma once
// Engine: the warm pool behind every front end. Owns one shard (thread, libuv loop, template
// zygotes, cells) per core. `zygo run`, `zygo batch` and `zygo serve` submit jobs to it.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/engine/engine_options.h"
#include "runtime/job/job.h"
#include "runtime/job/result.h"
#include "runtime/scheduler/counts.h"
#include "sandbox/policy.h"
#include "sandbox/sys/result.h"

namespace runtime {

class Engine {
 public:
  // Checks the host (levels, layers, interpreter) but starts no template yet: they start with the
  // first job that needs them. An error names what is missing and the cure.
  static sys::Result<std::unique_ptr<Engine>> start(EngineOptions options);
  // Cancels what runs (label Cancelled), ends every cell and template, and waits for them.
  virtual ~Engine() = default;

  // Thread-safe. `done` is called exactly once, on a shard's thread, or beside it where the result
  // is long; it must not block.
  virtual void submit(Job job, std::function<void(JobResult)> done) = 0;

  // Two jobs without tests that talk with each other: both have the same `pairing`, and begin when
  // both have a cell, which takes two workers. Each has its `done`.
  virtual void submit_pair(Job first, std::function<void(JobResult)> first_done, Job second,
                           std::function<void(JobResult)> second_done);

  // The number of jobs that run at once.
  virtual unsigned workers() const = 0;

  // Cancels every queued and running job: each gets its `done` with label Cancelled.
  virtual void cancel_all() = 0;

  // The same for the jobs that their `watch` calls withdrawn. A compiler that already runs for such
  // a job runs on, because others may be waiting for what it makes.
  virtual void cancel_withdrawn() = 0;

  // Sends the signals that `live` jobs have been given to those of them that run.
  virtual void pass_signals() {}

  // What is in force, for reports.
  struct Standing {
    sandbox::Level level = sandbox::Level::kFull;
    sandbox::Layers layers;
  };
  virtual Standing standing() const = 0;

  // Where jobs of this template run; null: there is no such template, or nobody says.
  virtual std::shared_ptr<const Origin> origin_of(const std::string&) { return nullptr; }

  // Nodes of sessions (docs/sessions.md). An engine without them keeps none, and runs no step.
  virtual bool keeps_nodes() const { return false; }
  // Frees nodes of this tenant; those that are not there, or another's, are passed over.
  virtual void forget_nodes(const std::string& /*tenant*/,
                            const std::vector<std::string>& /*ids*/) {}
  // Of each node the sentence that says why it is not there, or nothing. May block.
  virtual std::vector<std::string> why_gone(const std::string& /*tenant*/,
                                            const std::vector<std::string>& ids) {
    return std::vector<std::string>(ids.size(), "this engine keeps no nodes");
  }

  using Counts = EngineCounts;
  virtual Counts counts() const { return {}; }
};

}  // namespace runtime
