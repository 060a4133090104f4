#pragma once
// Passes: one test of a multi-pass problem. Program and validator take turns until the validator
// leaves no input for a further pass; its feedback folder stays. Callbacks come on the engine's
// threads. The engine is borrowed and outlives them.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine.h"

namespace cli {

inline constexpr const char* kNextPass = "feedback/nextpass.in";

// What a validator that has ended means for the test. Pure.
struct PassEnd {
  runtime::Verdict verdict;                  // of the test, unless there is a next pass
  std::optional<std::string> next;           // its input
  std::vector<runtime::InputFile> feedback;  // that the next validator finds
};
PassEnd end_of_pass(const runtime::Checker& checker, runtime::JobResult checked,
                    const runtime::Verdict& ran, unsigned pass, unsigned most);

class Passes : public std::enable_shared_from_this<Passes> {
 public:
  using Done = std::function<void(runtime::JobResult)>;

  // `job`: the submission's, with neither tests nor input. `done` is called once, with a result
  // that has this one test; its usage is the highest of a pass.
  static void start(runtime::Engine& engine, runtime::Job job, runtime::Checker checker,
                    runtime::TestCase test, unsigned most, Done done);

 private:
  Passes(runtime::Engine& engine, runtime::Job job, runtime::Checker checker,
         runtime::TestCase test, unsigned most, Done done);
  void run();
  void on_run(runtime::JobResult result);
  void on_checked(runtime::JobResult result, runtime::JobResult checked);
  runtime::Job checker_job(const std::string& output) const;
  void conclude(runtime::JobResult result);

  runtime::Engine& engine_;
  const runtime::Job job_;
  const runtime::Checker checker_;
  runtime::TestCase test_;  // its input is that of the present pass
  const unsigned most_;
  const Done done_;
  unsigned pass_ = 1;
  runtime::Usage highest_;
  std::vector<runtime::InputFile> feedback_;
};

}  // namespace cli
