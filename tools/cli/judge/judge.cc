#include "tools/cli/judge/judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <climits>
#include <cstdlib>
#include <memory>

#include "tools/cli/judge/session.h"
#include "tools/cli/judge/validation.h"
#include "tools/cli/text.h"

namespace cli {
namespace {

using Known = std::vector<runtime::TemplateSpec>;

sys::Result<Problem> read_problem(const std::string& directory, const Known& known) {
  Problem problem{TRY(Folder::open(directory)), {}, {}};
  auto read = [&]() -> sys::Result<void> {
    problem.package = TRY(read_package(problem.folder));
    TRY(check_flags(problem.package));
    problem.checker = TRY(read_checker(problem.folder, problem.package, known));
    return {};
  };
  if (auto done = read(); !done) return std::move(done).error().context(directory);
  return problem;
}

// A submission that the command line names: links to it are followed, those in it are not.
sys::Result<SourceProgram> read_given(const std::string& path, const Known& known) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (!real) return sys::Error::from_errno(path);
  const std::string absolute = real.get();
  const size_t slash = absolute.rfind('/');
  const std::string name = absolute.substr(slash + 1);
  const Folder parent = TRY(Folder::open(absolute.substr(0, std::max<size_t>(slash, 1))));
  SourceProgram program = TRY(read_program(parent, name, known));
  program.path = path;
  return program;
}

std::variant<std::vector<SourceProgram>, Refusal> read_submissions(const CommandLine& line,
                                                                   const Known& known) {
  std::vector<SourceProgram> programs;
  for (const std::string& path : line.judge.submissions) {
    sys::Result<SourceProgram> program = read_given(path, known);
    if (!program) return Refusal{program.error().text(), kExitUsage, Lines::kEscape};
    choose_template(*program, line.common);
    programs.push_back(std::move(program).value());
  }
  return programs;
}

}  // namespace

int judge_command(const CommandLine& line, const Parts& parts) {
  auto options =
      engine_options(line.common, parts.builtin_templates, line.judge.workers, parts.stop);
  if (auto* refusal = std::get_if<Refusal>(&options)) return refuse("judge", *refusal);
  auto templates = known_templates(line.common, parts.builtin_templates);
  const Known& known = std::get<Known>(templates);
  const auto problem = read_problem(line.judge.package, known);
  if (!problem) return refuse("judge", {problem.error().text(), kExitUsage, Lines::kEscape});
  const Package& package = problem->package;
  if (line.judge.self && package.examples.empty())
    return refuse("judge", {line.judge.package + ": submissions/: no example submission"});
  auto given = read_submissions(line, known);
  if (auto* refusal = std::get_if<Refusal>(&given)) return refuse("judge", *refusal);
  if (!package.ignored.empty() && !line.common.quiet)
    write_error_line(escape_controls(
        fmt::format("zygo judge: not used: {}", fmt::join(package.ignored, ", ")), Lines::kEscape));

  auto& chosen = std::get<runtime::EngineOptions>(options);
  if (package.settings.interactive && chosen.workers == 1) chosen.workers = 2;
  auto engine = parts.start_engine(std::move(chosen));
  if (!engine) return refuse("judge", {engine.error().text(), kExitSandbox});
  const int stop = parts.stop == nullptr ? -1 : parts.stop->fd();
  Session session(line, *problem, known, **engine, stop);
  if (line.judge.self) return session.judge_examples();
  return session.judge_these(std::get<std::vector<SourceProgram>>(given));
}

}  // namespace cli
