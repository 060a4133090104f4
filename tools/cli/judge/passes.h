#pragma once
// Passes: one test of a multi-pass problem. Program and validator take turns, or talk with each
// other, until the validator leaves no input for a further pass; its feedback folder stays.
// Callbacks come on the engine's threads. The engine is borrowed and outlives them.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine/engine.h"

namespace cli {

inline constexpr const char* kNextPass = "feedback/nextpass.in";

// The effect of an ended pass on the test. Pure.
struct PassEnd {
  runtime::Verdict verdict;                  // of the test, unless there is a next pass
  std::optional<std::string> next;           // its input
  std::vector<runtime::InputFile> feedback;  // that the next validator finds
};
PassEnd end_of_pass(const runtime::Verdict& verdict, runtime::OutputFiles feedback, unsigned pass,
                    unsigned most);

class Passes : public std::enable_shared_from_this<Passes> {
 public:
  using Done = std::function<void(runtime::JobResult)>;

  // `job`: the submission's, with this one test and a validator, which is its checker or its
  // interactor. `done` is called once, with the result of the last pass; the usage in it is the
  // highest of a pass.
  static void start(runtime::Engine& engine, runtime::Job job, unsigned most, Done done);

 private:
  Passes(runtime::Engine& engine, runtime::Job job, unsigned most, Done done);
  void run();
  void on_pass(runtime::JobResult result);
  void conclude(runtime::JobResult result);

  runtime::Engine& engine_;
  runtime::Job job_;  // its test is that of the present pass
  const unsigned most_;
  const Done done_;
  unsigned pass_ = 1;
  runtime::Usage highest_;
};

}  // namespace cli
