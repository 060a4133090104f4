#pragma once
// What came of a suite: the tests' own report, and zygo's verdict on the program for those tests
// that it did not live to see. Pure.

#include <map>
#include <string>
#include <vector>

#include "runtime/job/result.h"

namespace cli {

struct SuiteTest {
  std::string name, label, detail;
  std::map<std::string, int64_t> testimony;  // by operator
  bool passed() const { return label == "OK"; }
  bool skipped() const { return label == "Skipped"; }
};

struct SuiteOutcome {
  std::string label, detail;
  std::vector<SuiteTest> tests;
  bool passed = false;
  std::string objection;  // what was given as tests cannot be run as such
  // Ours or the caller's: nothing was said about the program.
  bool is_no_verdict = false;
  bool was_cancelled = false;
  runtime::Usage usage;  // the program's
  size_t count_passed() const;
  size_t count_skipped() const;
};

SuiteOutcome suite_outcome(const runtime::JobResult& result);

}  // namespace cli
