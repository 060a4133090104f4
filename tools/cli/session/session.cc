#include "tools/cli/session/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "runtime/host/proc.h"
#include "runtime/json/job/job_json.h"
#include "runtime/json/result/result_json.h"
#include "runtime/values/value.h"
#include "sandbox/sys/file.h"
#include "service/sessions/step_tree.h"
#include "tools/cli/refusal.h"
#include "tools/cli/run/run_job.h"
#include "tools/cli/run/verdict_text.h"
#include "tools/cli/session/console.h"
#include "tools/cli/session/stepper.h"
#include "tools/cli/text.h"

namespace cli {
namespace {

constexpr const char* kCommands =
    "%undo [N]      back by N steps, or one\n"
    "%branch NAME   begin a branch here\n"
    "%go WHERE      to a step, by its number, or to a branch\n"
    "%tree          all steps\n"
    "%try           the lines up to an empty one are tried side by side, each from here\n"
    "!COMMAND       of the shell, in the same files (--profile subprocess)\n"
    "%help, %quit\n";

constexpr const char* kNoCommands = "commands of the shell need --profile subprocess";

// What of a value an interactive interpreter shows.
std::string shown(const runtime::JobResult& result) {
  std::string json;
  if (!result.display.empty()) runtime::append_json(result.display, false, json);
  const auto display = nlohmann::json::parse(json, nullptr, false);
  const bool has_text =
      display.is_object() && display.contains("text/plain") && display["text/plain"].is_string();
  return has_text ? display["text/plain"].get<std::string>() : "";
}

bool is_kept(const runtime::JobResult& result) { return result.step && result.step->kept; }

class Session {
 public:
  Session(Stepper& steps, const CommonOptions& common, const StopSignals* stop)
      : steps_(steps), common_(common), console_(stop), stop_(stop) {}

  // False: somebody wants it to end.
  bool step(const std::string& source) {
    if (Stepper::is_command(source) && !steps_.may_run_commands()) {
      refuse_line(kNoCommands);
      return true;
    }
    LiveOutput output;
    const runtime::JobResult result =
        steps_.run(source, tree_.node(), common_.json ? nullptr : &output);
    tell(result, output);
    if (Stepper::is_command(source) && !common_.json) tell_status(result);
    has_failed_ = !result.verdict.ok();
    if (is_kept(result)) {
      const std::string label = result.verdict.label();
      tree_.move_on(tree_.add(result.step->node, source, label));
    }
    return !(stop_ && stop_->came());
  }

  // Until there are no more lines.
  void converse() {
    while (std::optional<std::string> line = console_.line(prompt(">>>"))) {
      if (line->find_first_not_of(" \t\r") == line->npos) continue;
      if (*line == "%quit") return;
      if (line->front() == '%') {
        command(*line);
      } else if (!step(Stepper::is_command(*line) ? *std::move(line) : whole(*std::move(line)))) {
        return;
      }
    }
  }

  bool has_failed() const { return has_failed_; }

 private:
  std::string prompt(std::string_view sign) const {
    return fmt::format(
        "[{}]{} {} ", tree_.place(),
        tree_.branch().empty() || tree_.branch() == "main" ? "" : " " + tree_.branch(), sign);
  }

  void refuse_line(std::string_view why) {
    write_error_line("zygo: " + std::string(why));
    has_failed_ = true;
  }

  // Of a command, which is its value.
  static void tell_status(const runtime::JobResult& result) {
    std::string status;
    if (!result.value.empty()) runtime::append_json(result.value, false, status);
    if (!status.empty() && status != "0") write_error_line("zygo: exit status " + status);
  }

  std::string whole(std::string source) {
    while (steps_.is_incomplete(source)) {
      const std::optional<std::string> more = console_.line(prompt("..."));
      if (!more) break;
      source += "\n" + *more;
    }
    return source;
  }

  void tell(const runtime::JobResult& result, LiveOutput& output) {
    if (common_.json) {
      std::string text;
      runtime::append_result(result, text);
      (void)write_output(STDOUT_FILENO, text + "\n");
      return;
    }
    (void)output.write_rest(result);
    if (const std::string text = shown(result); !text.empty())
      (void)write_output(STDOUT_FILENO, text + "\n");
    complain(result);
  }

  // An exception has its traceback; all other ends are told, and why nothing was kept.
  void complain(const runtime::JobResult& result) const {
    const Style style = style_for(STDERR_FILENO, common_.no_color);
    const bool is_said = result.verdict.ok() || (result.exception && is_kept(result));
    if (!is_said) write_error_line("zygo: " + verdict_line(result, style));
    if (is_kept(result) || !result.step) return;
    const std::string why = result.step->why_not;
    write_error_line(fmt::format("zygo: not kept: {}; still at step {}", why, tree_.place()));
  }

  void command(const std::string& line) {
    const size_t end = std::min(line.find(' '), line.size());
    const std::string name = line.substr(0, end);
    const size_t rest = line.find_first_not_of(' ', end);
    const std::string argument = rest == line.npos ? "" : line.substr(rest);
    std::string wrong;
    if (name == "%undo")
      wrong = undo(argument);
    else if (name == "%branch")
      wrong = tree_.begin_branch(argument);
    else if (name == "%go")
      wrong = tree_.go(argument);
    else if (name == "%tree")
      (void)write_output(STDOUT_FILENO, common_.json ? json_of(tree_) : drawing_of(tree_));
    else if (name == "%try")
      try_lines();
    else if (name == "%help")
      (void)write_output(STDOUT_FILENO, kCommands);
    else
      wrong = fmt::format("\"{}\" is no command; %help shows them", name);
    if (!wrong.empty()) refuse_line(wrong);
  }

  std::string undo(const std::string& argument) {
    size_t steps = 1;
    const auto [end, error] =
        std::from_chars(argument.data(), argument.data() + argument.size(), steps);
    const bool is_number = error == std::errc() && end == argument.data() + argument.size();
    if (!argument.empty() && !is_number)
      return fmt::format("%undo: \"{}\" is not a number of steps", argument);
    return tree_.undo(steps);
  }

  void try_lines() {
    std::vector<std::string> sources;
    while (std::optional<std::string> line = console_.line(prompt("try"))) {
      if (line->empty()) break;
      if (Stepper::is_command(*line) && !steps_.may_run_commands()) return refuse_line(kNoCommands);
      sources.push_back(*std::move(line));
    }
    const std::vector<runtime::JobResult> results = steps_.try_all(sources, tree_.node());
    for (size_t i = 0; i < results.size(); ++i) tell_try(results[i], sources[i]);
  }

  void tell_try(const runtime::JobResult& result, const std::string& source) {
    const std::string label = result.verdict.label();
    const std::string number =
        is_kept(result) ? fmt::format("{}", tree_.add(result.step->node, source, label)) : "-";
    LiveOutput none;
    if (common_.json) return tell(result, none);
    const std::string value = shown(result);
    (void)write_output(
        STDOUT_FILENO,
        fmt::format(
            "{:>4}  {}  {}{}\n", number, label, source,
            value.empty() ? "" : "  ->  " + clip(escape_controls(value, Lines::kEscape), 60)));
  }

  Stepper& steps_;
  const CommonOptions& common_;
  Console console_;
  const StopSignals* stop_;
  service::StepTree tree_;
  bool has_failed_ = false;
};

}  // namespace

int session_command(const CommandLine& line, const Parts& parts) {
  const unsigned workers = std::max(2u, runtime::usable_cpus());
  auto options = engine_options(line.common, parts.builtin_templates, workers, parts.stop);
  if (auto* refusal = std::get_if<Refusal>(&options)) return refuse("session", *refusal);
  RunOptions of_steps = line.run;
  of_steps.is_command = true;  // there is no file to read
  of_steps.stdin_file = "/dev/null";
  auto made = make_run_job(of_steps, line.common);
  if (auto* refusal = std::get_if<Refusal>(&made)) return refuse("session", *refusal);
  std::vector<std::string> files;
  for (const std::string& path : line.run.args) {
    sys::Result<std::string> text = sys::read_file(path, runtime::kMaxJobBytes);
    if (!text) return refuse("session", {text.error().text()});
    files.push_back(*std::move(text));
  }
  auto engine = parts.start_engine(std::get<runtime::EngineOptions>(std::move(options)));
  if (!engine) return refuse("session", {engine.error().text(), kExitSandbox});

  runtime::Job common = std::move(std::get<RunJob>(made).job);
  common.stdin_fd = -1;
  Stepper steps(**engine, std::move(common), parts.stop);
  Session session(steps, line.common, parts.stop);
  for (const std::string& source : files) {
    if (!session.step(source)) return kExitInterrupted;
  }
  const bool talks = files.empty() || is_terminal(STDIN_FILENO);
  if (talks) session.converse();
  if (parts.stop && parts.stop->came()) return kExitInterrupted;
  return session.has_failed() && !is_terminal(STDIN_FILENO) ? kExitSomeFailed : kExitOk;
}

}  // namespace cli
