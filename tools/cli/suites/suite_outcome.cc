#include "tools/cli/suites/suite_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/cli/run/verdict_text.h"

namespace cli {
namespace {

using nlohmann::json;

constexpr const char* kReport = "feedback/tests.jsonl";

std::string text_in(const runtime::Detail& detail, std::string_view key) {
  for (const auto& [name, value] : detail) {
    const auto* text = std::get_if<std::string>(&value);
    if (text != nullptr && name == key) return *text;
  }
  return "";
}

// "socket, at AF_INET SOCK_STREAM, line 3": what stands behind the label.
std::string reason_of(const runtime::TestResult& ran) {
  runtime::JobResult told;
  told.verdict = ran.verdict;
  told.exception = ran.exception;
  const std::string text = verdict_line(told, Style());
  const size_t open = text.find(" (");
  if (open == std::string::npos || !text.ends_with(')')) return "";
  return text.substr(open + 2, text.size() - open - 3);
}

// What the tests' cell wrote. No part of it is believed to be there.
void read_line(const std::string& line, SuiteOutcome& into) {
  const json read = json::parse(line, nullptr, false);
  if (!read.is_object()) return;
  try {
    if (read.contains("objection")) into.objection = read.at("objection");
    if (!read.contains("name")) return;
    into.tests.push_back({.name = read.at("name"),
                          .label = read.at("label"),
                          .detail = read.at("detail"),
                          .testimony = read.at("testimony")});
  } catch (const json::exception&) {
  }
}

void read_report(const runtime::OutputFiles& feedback, SuiteOutcome& into) {
  for (const runtime::InputFile& file : feedback.files) {
    if (file.path != kReport) continue;
    size_t begin = 0;
    for (size_t end; (end = file.content.find('\n', begin)) != std::string::npos; begin = end + 1)
      read_line(file.content.substr(begin, end - begin), into);
  }
}

struct End {
  std::string label, detail;
};

// How the program ended, for the tests that it did not live to see.
End end_of(const runtime::JobResult& result, const runtime::TestResult* ran) {
  using runtime::Outcome;
  const runtime::Verdict& verdict = result.verdict;
  if (verdict.ok() || verdict.outcome == Outcome::kWrongAnswer) {
    const int code = ran != nullptr && ran->exit && !ran->exit->signalled ? ran->exit->code : 0;
    return {"NonZeroExit", fmt::format("ended before the tests did, with exit code {}", code)};
  }
  const std::string message = text_in(verdict.detail, "message");
  for (const char* limit : {"TimeoutException", "MemoryLimitExceeded", "DiskLimitExceeded",
                            "OutputLimitExceeded", "ProcessLimitExceeded"}) {
    if (message.starts_with(fmt::format("interactor: ended as {},", limit)))
      return {limit, "of the tests' sandbox"};
  }
  return {verdict.label(), ran != nullptr ? reason_of(*ran) : message};
}

}  // namespace

size_t SuiteOutcome::count_passed() const {
  return static_cast<size_t>(std::ranges::count_if(tests, &SuiteTest::passed));
}

size_t SuiteOutcome::count_skipped() const {
  return static_cast<size_t>(std::ranges::count_if(tests, &SuiteTest::skipped));
}

SuiteOutcome suite_outcome(const runtime::JobResult& result) {
  SuiteOutcome made;
  const runtime::TestResult* ran =
      result.tests.empty() || result.tests[0].skipped ? nullptr : &result.tests[0];
  if (ran != nullptr) read_report(ran->feedback, made);
  made.usage = ran != nullptr ? ran->usage : result.usage;
  End end = end_of(result, ran);
  for (SuiteTest& test : made.tests) {
    if (!test.label.empty()) continue;
    test.label = end.label;
    test.detail = end.detail;
  }
  const auto failed = std::ranges::find_if(
      made.tests, [](const SuiteTest& test) { return !test.passed() && !test.skipped(); });
  if (result.verdict.by == runtime::By::kProgram) {
    if (failed != made.tests.end()) {
      end = {failed->label, failed->name + ": " + failed->detail};
    } else if (made.count_passed() == 0) {
      end = {"WrongAnswer", "no test was run"};
    }
  }
  made.passed = result.verdict.ok() && failed == made.tests.end() && made.count_passed() > 0;
  made.was_cancelled = result.verdict.outcome == runtime::Outcome::kCancelled;
  made.is_no_verdict = end.label == "BadJob" || result.verdict.by == runtime::By::kSandbox;
  made.label = made.passed ? "OK" : end.label;
  if (!made.passed) made.detail = end.detail;
  return made;
}

}  // namespace cli
