#include "tools/cli/suites/suites.h"

#include <fcntl.h>
#include <unistd.h>

#include "sandbox/sys/file.h"
#include "tools/cli/run/one_job.h"
#include "tools/cli/suites/suite_job.h"
#include "tools/cli/suites/suite_outcome.h"
#include "tools/cli/suites/suite_report.h"
#include "tools/cli/text.h"

namespace cli {
namespace {

constexpr unsigned kBothSides = 2;  // workers

sys::Result<void> write_file(const std::string& path, const std::string& text) {
  const sys::OwnedFd file = TRY(sys::open(path, O_WRONLY | O_CREAT | O_TRUNC));
  return sys::write_all(file.get(), text);
}

int exit_code_of(const SuiteOutcome& outcome) {
  if (outcome.was_cancelled) return kExitInterrupted;
  if (outcome.is_no_verdict) return kExitSandbox;
  return outcome.passed ? kExitOk : kExitSomeFailed;
}

int show(const SuiteOutcome& outcome, const CommandLine& line) {
  const Style style = style_for(STDOUT_FILENO, line.common.no_color);
  std::string text;
  if (line.common.json) {
    text = suite_json(outcome) + "\n";
  } else {
    if (!line.common.quiet) text = suite_table(outcome, style);
    if (!line.common.quiet || !outcome.passed) text += suite_summary(outcome, style) + "\n";
  }
  static_cast<void>(sys::write_all(STDOUT_FILENO, text));
  const std::string& junit = line.test.junit;
  if (!junit.empty()) {
    if (auto done = write_file(junit, suite_junit(outcome)); !done)
      return refuse("test", {done.error().text()});
  }
  return exit_code_of(outcome);
}

}  // namespace

int test_command(const CommandLine& line, const Parts& parts) {
  auto options = engine_options(line.common, parts.builtin_templates, kBothSides, parts.stop);
  if (auto* refusal = std::get_if<Refusal>(&options)) return refuse("test", *refusal);
  auto tests = read_suite_files(line.test.tests);
  if (!tests) return refuse("test", {tests.error().text(), kExitUsage, Lines::kEscape});
  auto program = read_suite_files(line.test.program);
  if (!program) return refuse("test", {program.error().text(), kExitUsage, Lines::kEscape});
  const std::string chosen = chosen_template(line.common);
  auto engine = parts.start_engine(std::get<runtime::EngineOptions>(std::move(options)));
  if (!engine) return refuse("test", {engine.error().text(), kExitSandbox});
  const SuiteOutcome outcome =
      suite_outcome(run_one(**engine,
                            suite_job(line.test, chosen.empty() ? "python" : chosen,
                                      std::move(program).value(), std::move(tests).value()),
                            parts.stop));
  if (!outcome.objection.empty())
    return refuse("test", {outcome.objection, kExitUsage, Lines::kEscape});
  return show(outcome, line);
}

}  // namespace cli
