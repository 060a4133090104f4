#include "tools/cli/judge/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "sandbox/sys/file.h"

namespace cli {
namespace {

constexpr sys::Milliseconds kLeast{1000};             // of a derived time limit
constexpr sys::Milliseconds kWithoutExamples{10000};  // nothing to derive it from
constexpr sys::Milliseconds kWhileMeasuring{60000};   // of accepted submissions, to derive it

void print(const std::string& text) {
  static_cast<void>(sys::write_all(STDOUT_FILENO, text + "\n").ok());
}

bool shows_progress(const CommonOptions& common) {
  return !common.quiet && !common.json && is_terminal(STDERR_FILENO);
}

void draw(const std::string& text) {
  const std::string line = clip(text, terminal_width(STDERR_FILENO) - 1);
  static_cast<void>(sys::write_all(STDERR_FILENO, "\r" + line + "\x1b[K").ok());
}

sys::Milliseconds limit_for(int64_t slowest_us, const ProblemLimits& limits) {
  const double ms = static_cast<double>(slowest_us) / 1000 * limits.time_multiplier;
  if (!limits.time_resolution_s)
    return std::max(kLeast, sys::Milliseconds(static_cast<int64_t>(ms) + 1));
  const double step = *limits.time_resolution_s * 1000;
  return sys::Milliseconds(std::llround(std::max(1.0, std::ceil(ms / step)) * step));
}

// An accepted submission may have failed tests, where the problem gives scores.
int64_t slowest_accepted(const Judged& judged) {
  int64_t slowest = 0;
  for (const TestVerdict& test : judged.tests) {
    if (test.word == Word::kAC) slowest = std::max(slowest, test.usage.cpu_us);
  }
  return slowest;
}

// The promise of the program, or else of a file beside it.
sys::Result<std::optional<Promise>> promise_in_any(const SourceProgram& program) {
  std::optional<Promise> found = TRY(promise_in(program.source));
  for (const runtime::InputFile& file : program.files) {
    if (!found) found = TRY(promise_in(file.content));
  }
  return found;
}

}  // namespace

void choose_template(SourceProgram& program, const CommonOptions& common) {
  const std::string chosen = chosen_template(common);
  if (program.template_name == "python" && !chosen.empty()) program.template_name = chosen;
}

Session::Session(const CommandLine& line, const Problem& problem,
                 const std::vector<runtime::TemplateSpec>& known, runtime::Engine& engine, int stop)
    : line_(line),
      problem_(problem),
      known_(known),
      jury_(engine, problem.folder, problem.package, problem.checker, stop),
      tests_(line.judge.all ? Tests::kAll : Tests::kUntilFailure),
      style_(style_for(STDOUT_FILENO, line.common.no_color)),
      accepted_(problem.package.examples.size()) {}

Judged Session::judge(const SourceProgram& program) {
  const bool progress = shows_progress(line_.common);
  const size_t total = problem_.package.tests.size();
  Judged judged = jury_.judge(
      program, measure_.time_limit, tests_,
      [progress, total](const SourceProgram& judged_now, const TestVerdict& test, size_t done) {
        if (progress) draw(progress_text(judged_now, test, done, total));
      });
  if (progress) draw("");
  return judged;
}

Session::Example Session::judge_example(const ExampleSubmission& example) {
  Promise folders = example.expected.value_or(promise_of(example.folder));
  if (problem_.package.groups.empty() && folders == Promise{Word::kPAC}) folders.clear();
  sys::Result<SourceProgram> program = read_program(problem_.folder, example.path, known_);
  if (!program) return {not_judged(example.path, program.error()), folders};
  const sys::Result<std::optional<Promise>> own = promise_in_any(*program);
  if (!own) return {not_judged(example.path, own.error()), folders};
  choose_template(*program, line_.common);
  return {judge(*program), own->value_or(folders), example.score};
}

// The time limit, given or derived. Runs that are judged for it are not repeated.
void Session::measure() {
  const Package& package = problem_.package;
  if (package.time_limit) {
    measure_.time_limit = *package.time_limit;
    return;
  }
  measure_.time_limit = kWhileMeasuring;
  for (size_t i = 0; i < package.examples.size() && !jury_.stopped(); ++i) {
    const ExampleSubmission& example = package.examples[i];
    if (!example.measures) continue;
    accepted_[i] = judge_example(example);
    const Judged& judged = accepted_[i]->judged;
    if (judged.word == Word::kAC || judged.word == Word::kPAC) {
      measure_.slowest_us = std::max(measure_.slowest_us.value_or(0), slowest_accepted(judged));
    } else if (!line_.judge.self && !jury_.stopped()) {
      write_error_line(fmt::format("zygo judge: {} is {}, so it says nothing about the time limit",
                                   escape_controls(example.path, Lines::kEscape),
                                   name_of(judged.word)));
    }
  }
  measure_.multiplier = package.settings.limits.time_multiplier;
  measure_.time_limit = measure_.slowest_us
                            ? limit_for(*measure_.slowest_us, package.settings.limits)
                            : kWithoutExamples;
}

void Session::begin(Columns columns) {
  columns_ = columns;
  if (line_.common.json || line_.common.quiet) return;
  print(heading(problem_.package, measure_));
  print(table_head(columns_, style_));
}

void Session::show(const Row& row) {
  ++shown_;
  const bool bad = row.judged.word == Word::kJE || !row.good();
  if (bad) ++bad_;
  if (line_.common.json) return print(row_json(row, measure_, columns_));
  if (line_.common.quiet && !bad && row.promise) return;
  print(table_row(row, columns_, style_));
  if (!line_.common.quiet && !row.judged.groups.empty()) print(groups_text(row.judged));
}

int Session::conclude() const {
  if (jury_.stopped()) return kExitInterrupted;
  if (line_.judge.self && !line_.common.json && !line_.common.quiet) {
    print(bad_ == 0 ? fmt::format("{} submissions, all as expected", shown_)
                    : fmt::format("{} submissions, {} not as expected", shown_, bad_));
  }
  return bad_ == 0 ? kExitOk : kExitSomeFailed;
}

int Session::judge_examples() {
  measure();
  const std::vector<ExampleSubmission>& examples = problem_.package.examples;
  Columns columns{.expected = true, .scores = !problem_.package.groups.empty()};
  for (const ExampleSubmission& example : examples) {
    columns.path = std::max(columns.path, columns_of(example.path));
    columns.language = std::max(columns.language, chosen_template(line_.common).size());
  }
  begin(columns);
  for (size_t i = 0; i < examples.size() && !jury_.stopped(); ++i) {
    Example done = accepted_[i] ? *std::move(accepted_[i]) : judge_example(examples[i]);
    if (!jury_.stopped())
      show({std::move(done.judged), std::move(done.promise), done.score_promise});
  }
  return conclude();
}

int Session::judge_these(const std::vector<SourceProgram>& given) {
  measure();
  Columns columns{.scores = !problem_.package.groups.empty()};
  for (const SourceProgram& program : given) {
    columns.path = std::max(columns.path, columns_of(program.path));
    columns.language = std::max(columns.language, program.template_name.size());
  }
  if (!jury_.stopped()) begin(columns);
  for (const SourceProgram& program : given) {
    if (jury_.stopped()) break;
    Judged judged = judge(program);
    if (!jury_.stopped()) show({std::move(judged), {}, {}});
  }
  return conclude();
}

}  // namespace cli
