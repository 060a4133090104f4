#include "tools/cli/suites/suite_outcome.h"

#include <catch2/catch.hpp>

#include "tools/cli/suites/harness.h"
#include "tools/cli/suites/suite_report.h"

namespace cli {
namespace {

using runtime::By;
using runtime::Outcome;

constexpr const char* kTwo =
    R"({"name": "a.py::t", "label": "OK", "detail": "", "testimony": {"==": 2}}
{"name": "a.py::<u>", "label": "", "detail": "the program ended", "testimony": {}}
)";

runtime::JobResult ended(const std::string& report, runtime::Verdict verdict) {
  runtime::JobResult result;
  result.verdict = verdict;
  runtime::TestResult& test = result.tests.emplace_back();
  test.verdict = verdict;
  test.exit = runtime::ExitStatus{.signalled = false, .code = 0};
  test.feedback.files.push_back({"feedback/tests.jsonl", report});
  return result;
}

std::string labels_of(const SuiteOutcome& outcome) {
  std::string text = outcome.label + ":";
  for (const SuiteTest& test : outcome.tests) text += " " + test.label;
  return text;
}

TEST_CASE("tests that a program did not live to see have the label of its end", "[suites]") {
  const auto label_after = [](runtime::Verdict verdict) {
    return labels_of(suite_outcome(ended(kTwo, verdict)));
  };

  CHECK(label_after({Outcome::kTimeout, "", By::kLimit, {}}) ==
        "TimeoutException: OK TimeoutException");
  CHECK(label_after({Outcome::kUnsafeCode, "", By::kPolicy, {}}) == "UnsafeCode: OK UnsafeCode");
  CHECK(label_after({Outcome::kWrongAnswer, "", By::kProgram, {}}) ==
        "NonZeroExit: OK NonZeroExit");
}

TEST_CASE("a suite has passed when all of its tests and the program have", "[suites]") {
  const std::string one = std::string(kTwo).substr(0, std::string(kTwo).find('\n') + 1);
  const runtime::Verdict good{Outcome::kOk, "", By::kProgram, {}};

  CHECK(suite_outcome(ended(one, good)).passed);
  CHECK_FALSE(suite_outcome(ended(kTwo, good)).passed);
  CHECK_FALSE(suite_outcome(ended("", good)).passed);
  CHECK_FALSE(suite_outcome(ended(one, {Outcome::kMemoryLimit, "", By::kLimit, {}})).passed);
  CHECK_FALSE(suite_outcome(ended("junk\n[]\n{\"name\": 1}\n", good)).passed);
}

TEST_CASE("a limit that the tests' own cell met is named, and no verdict is made of it",
          "[suites]") {
  runtime::JobResult result = ended("", {Outcome::kBadJob, "", By::kCaller, {}});
  result.verdict.detail = {
      {"message", "interactor: ended as TimeoutException, which is no judgement"}};
  const SuiteOutcome timed_out = suite_outcome(result);
  result.verdict.detail = {{"message", "interactor: ended as UnsafeCode, which is no judgement"}};
  const SuiteOutcome bad = suite_outcome(result);

  CHECK(timed_out.label == "TimeoutException");
  CHECK_FALSE(timed_out.is_no_verdict);
  CHECK(bad.label == "BadJob");
  CHECK(bad.is_no_verdict);
}

TEST_CASE("reports of a suite show testimony and escape what a name has", "[suites]") {
  const SuiteOutcome outcome = suite_outcome(ended(kTwo, {Outcome::kTimeout, "", By::kLimit, {}}));

  CHECK(suite_table(outcome, Style()).find("a.py::t    OK                testimony: == 2") !=
        std::string::npos);
  CHECK(suite_summary(outcome, Style()) == "1 of 2 tests passed: TimeoutException");
  CHECK(suite_junit(outcome).find("name=\"&lt;u&gt;\"><error type=\"TimeoutException\"") !=
        std::string::npos);
  CHECK(suite_json(outcome).find(R"("testimony":{"==":2})") != std::string::npos);
}

TEST_CASE("the harness that is embedded is the Python package's", "[suites]") {
  const std::string tests = tests_side({.program = {"a.py"},
                                        .tests = {"\xc3\xa4_test.py"},
                                        .framework = "auto",
                                        .strict = true,
                                        .wall = sys::Milliseconds{1500},
                                        .cpu = sys::Milliseconds{1000}});

  CHECK(tests.find("def start(") != std::string::npos);
  CHECK(tests.find("class Session(Codec)") != std::string::npos);
  CHECK(tests.find("\\\\u00e4_test.py") != std::string::npos);
  CHECK(program_side().find("class Server(Codec)") != std::string::npos);
}

}  // namespace
}  // namespace cli
