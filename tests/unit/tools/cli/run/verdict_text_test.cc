#include "tools/cli/run/verdict_text.h"

#include <catch2/catch.hpp>

namespace cli {
namespace {

using runtime::By;
using runtime::Outcome;

runtime::JobResult ended(Outcome outcome, std::optional<runtime::ExitStatus> exit = std::nullopt) {
  runtime::JobResult result;
  result.verdict.outcome = outcome;
  result.exit = exit;
  return result;
}

}  // namespace

TEST_CASE("every outcome has the contract's exit code", "[cli][exit]") {
  using Row = std::tuple<Outcome, std::optional<runtime::ExitStatus>, int, int>;
  auto [outcome, exit, code, code_of_json] = GENERATE(values<Row>({
      {Outcome::kOk, runtime::ExitStatus{false, 0}, 0, 0},
      {Outcome::kNonZeroExit, runtime::ExitStatus{false, 7}, 7, 0},
      {Outcome::kNonZeroExit, runtime::ExitStatus{false, 0}, 1, 0},
      {Outcome::kException, runtime::ExitStatus{false, 1}, 1, 0},
      {Outcome::kCompilationError, std::nullopt, 1, 0},
      {Outcome::kInvalidResult, runtime::ExitStatus{false, 0}, 1, 0},
      {Outcome::kParsingCodeFailed, std::nullopt, 1, 0},
      {Outcome::kWrongAnswer, runtime::ExitStatus{false, 0}, 1, 0},
      {Outcome::kSignalled, runtime::ExitStatus{true, 11}, 139, 0},
      {Outcome::kTimeout, runtime::ExitStatus{true, 9}, 124, 0},
      {Outcome::kMemoryLimit, runtime::ExitStatus{true, 9}, 137, 0},
      {Outcome::kOutputLimit, runtime::ExitStatus{true, 9}, 137, 0},
      {Outcome::kDiskLimit, runtime::ExitStatus{false, 1}, 137, 0},
      {Outcome::kProcessLimit, runtime::ExitStatus{false, 1}, 137, 0},
      {Outcome::kUnsafeCode, runtime::ExitStatus{false, 0}, 126, 0},
      {Outcome::kNonDeterministic, runtime::ExitStatus{false, 0}, 126, 0},
      {Outcome::kBadJob, std::nullopt, 125, 125},
      {Outcome::kSandboxError, std::nullopt, 125, 125},
      {Outcome::kCancelled, std::nullopt, 130, 130},
  }));
  CAPTURE(runtime::name_of(outcome));

  CHECK(exit_code(ended(outcome, exit)) == code);
  CHECK(exit_code_of_json(ended(outcome, exit)) == code_of_json);
}

TEST_CASE("a verdict is one line with its detail in words", "[cli][verdict]") {
  using Row = std::tuple<Outcome, runtime::Detail, std::string>;
  auto [outcome, detail, line] = GENERATE(values<Row>({
      {Outcome::kOk, {}, "OK"},
      {Outcome::kTimeout,
       {{"limit", "cpu"},
        {"limit_ms", int64_t{1000}},
        {"measured_ms", int64_t{1003}},
        {"contended", false}},
       "TimeoutException (cpu limit 1000 ms, used 1003 ms)"},
      {Outcome::kMemoryLimit,
       {{"limit", "memory"},
        {"limit_bytes", int64_t{536870912}},
        {"peak_bytes", int64_t{536870912}},
        {"source", "oom counter"},
        {"line", int64_t{17}}},
       "MemoryLimitExceeded (memory limit 512 MiB, peak 512 MiB, by oom counter, line 17)"},
      {Outcome::kUnsafeCode,
       {{"syscall", "openat"},
        {"argument", "/etc/x"},
        {"line", int64_t{3}},
        {"count", int64_t{2}},
        {"policy", "deny"}},
       "UnsafeCode (openat, at /etc/x, line 3, 2 attempts)"},
      {Outcome::kNonZeroExit, {{"code", int64_t{3}}}, "NonZeroExit (exit code 3)"},
      {Outcome::kSignalled, {{"signal", "SIGSEGV"}}, "Signalled (SIGSEGV)"},
      {Outcome::kSandboxError,
       {{"step", "fork"}, {"errno", int64_t{11}}, {"message", "clone: no"}},
       "SandboxError (step fork, errno 11, clone: no)"},
  }));

  runtime::JobResult result = ended(outcome);
  result.verdict.detail = detail;

  CHECK(verdict_line(result, Style()) == line);
}

TEST_CASE("an exception is told by name, message and line, and cannot touch the terminal",
          "[cli][verdict]") {
  runtime::JobResult result = ended(Outcome::kException);
  result.verdict.exception_type = "Value\x1b[31mError";
  result.verdict.detail = {{"line", int64_t{3}}};
  result.exception = runtime::Exception{"ValueError", "two\nlines\r\xff", "", 3};

  CHECK(verdict_line(result, Style()) == "Value\\x1b[31mError: two\\nlines\\r\\xff (line 3)");
}

TEST_CASE("a class named like a label of ours is shown as the program's", "[cli][verdict]") {
  runtime::JobResult result = ended(Outcome::kException);
  result.verdict.exception_type = "OK";

  CHECK(verdict_line(result, Style()) == "program.OK");
}

TEST_CASE("colour is paint around the label only", "[cli][verdict]") {
  CHECK(verdict_line(ended(Outcome::kOk), Style(true)) == "\x1b[32mOK\x1b[0m");
}

TEST_CASE("text for a terminal keeps lines and letters, and shows what would act", "[cli][text]") {
  CHECK(escape_controls("a\tb\nc", Lines::kKeep) == "a\tb\nc");
  CHECK(escape_controls("a\nb", Lines::kEscape) == "a\\nb");
  CHECK(escape_controls("grün €", Lines::kKeep) == "grün €");
  CHECK(escape_controls("\x1b]0;x\x07", Lines::kKeep) == "\\x1b]0;x\\x07");
  CHECK(escape_controls("\xc2\x9b", Lines::kKeep) == "\\x9b");
  CHECK(escape_controls("\xe2\x80\xae", Lines::kKeep) == "\\u202e");
  CHECK(escape_controls("\xc0\x80\xed\xa0\x80", Lines::kKeep) == "\\xc0\\x80\\xed\\xa0\\x80");
  CHECK(clip("äöü", 2) == "ä…");
}

}  // namespace cli
