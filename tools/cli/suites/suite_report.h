#pragma once
// The output of `zygo test`: a table for people, an object for programs, XML for continuous
// integration. Pure.

#include <string>

#include "tools/cli/suites/suite_outcome.h"
#include "tools/cli/text.h"

namespace cli {

std::string suite_table(const SuiteOutcome& outcome, const Style& style);  // without its last line
// "6 of 7 tests passed, 1 skipped: ValueError (test_a.py::test_b: ValueError: no)"
std::string suite_summary(const SuiteOutcome& outcome, const Style& style);
std::string suite_json(const SuiteOutcome& outcome);
std::string suite_junit(const SuiteOutcome& outcome);

}  // namespace cli
