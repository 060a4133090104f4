#pragma once
// Course: runs the attempts one after another on an engine, each in a cell that no other attempt
// had, beside a neighbour that must not notice.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine/engine.h"
#include "tools/cli/selfcheck/attempt.h"
#include "tools/cli/selfcheck/bait.h"
#include "tools/cli/selfcheck/judgement.h"
#include "tools/cli/signals.h"

namespace cli {

class Course {
 public:
  Course(runtime::Engine& engine, Bait& bait, std::string template_name, const StopSignals* stop);

  // Nothing when it was interrupted. An error is our own: a job that the engine's schema refuses.
  sys::Result<std::optional<Finding>> run(const Attempt& attempt, const std::vector<Attempt>& all);

  sandbox::Layers enforced() const { return enforced_; }  // in all jobs so far
  std::optional<sandbox::Level> level() const { return level_; }
  bool stopped() const { return stop_ != nullptr && stop_->came(); }

 private:
  class Pending;
  class Neighbour;
  sys::Result<runtime::Job> job_of(const Attempt& attempt, unsigned cell) const;
  std::optional<runtime::JobResult> perform(runtime::Job job);
  void note(const runtime::JobResult& result);

  runtime::Engine& engine_;
  Bait& bait_;
  std::string template_name_;
  const StopSignals* stop_;
  unsigned cells_ = 0;
  sandbox::Layers enforced_ = sandbox::Layers::all();
  std::optional<sandbox::Level> level_;
};

}  // namespace cli
