#pragma once
// Stepper: runs the steps of one session on an engine.

#include <string>
#include <string_view>
#include <vector>

#include "runtime/engine/engine.h"
#include "tools/cli/run/live_output.h"
#include "tools/cli/signals.h"

namespace cli {

class Stepper {
 public:
  // `common` is what all steps have of a job: template, limits, profile.
  Stepper(runtime::Engine& engine, runtime::Job common, const StopSignals* stop)
      : engine_(engine), common_(std::move(common)), stop_(stop) {}

  // Of a source that begins with "!" the rest is a command of the shell.
  static bool is_command(std::string_view source) { return source.starts_with('!'); }
  bool may_run_commands() const { return common_.policy.profile >= sandbox::Profile::kSubprocess; }

  // At `node`; empty: the first. Its output goes to `output` as it comes; null: it is in the result
  // alone.
  runtime::JobResult run(std::string_view source, const std::string& node, LiveOutput* output);
  // Side by side, each from that node.
  std::vector<runtime::JobResult> try_all(const std::vector<std::string>& sources,
                                          const std::string& node);
  // Whether an interpreter would wait for more lines. Python alone knows, so it is asked, in a job
  // of its own.
  bool is_incomplete(const std::string& source);

 private:
  runtime::Job job_of(std::string_view source, const std::string& node);

  runtime::Engine& engine_;
  const runtime::Job common_;
  const StopSignals* stop_;
  size_t jobs_ = 0;
};

}  // namespace cli
