#pragma once
// Jury: runs a submission on the tests of a package and says how it ended. One job per test, so
// that each can be told as it ends; a program is compiled once all the same. Runs on the caller's
// thread and waits; results come from the engine's.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine/engine.h"
#include "tools/cli/judge/package/package.h"
#include "tools/cli/judge/program.h"
#include "tools/cli/judge/words.h"

namespace cli {

struct TestVerdict {
  std::string name;
  Word word = Word::kJE;
  runtime::Verdict verdict;
  std::optional<runtime::Exception> exception;
  std::string err;  // what the program, or its compiler, wrote to stderr; cut short
  runtime::Usage usage;
  runtime::JudgeScore given;  // by the validator
};

struct Judged {
  std::string path, language;
  Word word = Word::kJE;  // of the first test that failed, or by grading; JE before all others
  std::optional<size_t> decisive;  // its index in `tests`; none: accepted
  int64_t slowest_cpu_us = 0, memory_peak_bytes = 0;
  std::vector<TestVerdict> tests;  // that were run, in their order
  // The score, if the problem gives scores, of a submission that is accepted, or from 2023-07 on of
  // any that ran.
  std::optional<double> score;
  bool has_best_score = true;      // or there are no scores
  std::optional<Word> first_word;  // from 2023-07 on: of the first test that failed, or AC
  std::vector<GroupScore> groups;
  std::string complaint;  // of the package, where no test is to blame for JE
};

enum class Tests { kUntilFailure, kAll };

class Jury {
 public:
  using OnTest = std::function<void(const SourceProgram&, const TestVerdict&, size_t done)>;

  // All are borrowed. `stop`: a descriptor that becomes readable when we are to end; or -1.
  Jury(runtime::Engine& engine, const Folder& folder, const Package& package,
       const std::optional<runtime::Checker>& checker, int stop)
      : engine_(engine), folder_(folder), package_(package), checker_(checker), stop_(stop) {}

  Judged judge(const SourceProgram& program, sys::Milliseconds time_limit, Tests tests,
               const OnTest& on_test);
  bool stopped() const { return stopped_; }

 private:
  struct Inbox;
  bool follows_groups(Tests tests) const;
  void conclude(const std::map<size_t, TestVerdict>& ended, Judged& judged) const;
  void submit(const SourceProgram& program, const PackageTest& test, size_t index,
              const runtime::Limits& limits, const std::shared_ptr<Inbox>& inbox);

  runtime::Engine& engine_;
  const Folder& folder_;
  const Package& package_;
  const std::optional<runtime::Checker>& checker_;
  const int stop_;
  bool stopped_ = false;
};

// A submission that could not even be read.
Judged not_judged(const std::string& path, const sys::Error& error);

}  // namespace cli
