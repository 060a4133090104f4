#include "tools/cli/isolate/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace cli {
namespace {

using runtime::Family;
using runtime::JobResult;
using runtime::Outcome;
using Status = IsolateEnd::Status;

constexpr int kNotExecuted = 127;  // what isolate's process exits with whose execve failed

template <typename T>
T of_detail(const JobResult& result, std::string_view key, T otherwise) {
  for (const auto& [name, value] : result.verdict.detail) {
    if (name == key && std::holds_alternative<T>(value)) return std::get<T>(value);
  }
  return otherwise;
}

IsolateEnd by_signal(int signal, const std::string& more = "") {
  return {Status::kSignal,
          fmt::format("Caught fatal signal {}{}", signal, more),
          1,
          signal,
          false,
          false};
}

IsolateEnd timeout(bool by_wall_clock, bool killed) {
  return {Status::kTimeout,
          by_wall_clock ? "Time limit exceeded (wall clock)" : "Time limit exceeded",
          1,
          0,
          killed,
          false};
}

IsolateEnd exited_with(int code) {
  IsolateEnd end{Status::kRunTimeError, fmt::format("Exited with error status {}", code), 1};
  end.code = code;
  return end;
}

bool is_past(const std::optional<sys::Milliseconds>& limit, int64_t used_us) {
  return limit && used_us / 1000 > limit->count();
}

// A refusal for which isolate has no word (processes, disk) has reached the program as an error
// of its own.
IsolateEnd by_itself(const JobResult& result, const IsolateOptions& options) {
  if (!result.exit) return trouble("the program was not reached: " + result.verdict.label());
  if (is_past(options.time, result.usage.cpu_us)) return timeout(false, false);
  if (is_past(options.wall_time, result.usage.wall_us)) return timeout(true, false);
  const runtime::ExitStatus& exit = *result.exit;
  if (exit.signalled) return by_signal(exit.code);
  if (exit.code == 0) return {};
  return exited_with(exit.code);
}

// The errors of execve(2) whose cause is the file, and so who made it: no such format, no
// interpreter of that name, no right to it.
bool is_of_the_program(int error) {
  constexpr int kCauses[] = {ENOEXEC, ENOENT, EACCES, EPERM,   ELIBBAD,
                             EINVAL,  EISDIR, ELOOP,  ENOTDIR, ENAMETOOLONG};
  return std::find(std::begin(kCauses), std::end(kCauses), error) != std::end(kCauses);
}

IsolateEnd sandbox_error(const JobResult& result) {
  const std::string step = of_detail<std::string>(result, "step", "");
  const auto error = static_cast<int>(of_detail<int64_t>(result, "errno", 0));
  const bool could_not_execute = step == shim::name_of(shim::Step::kExecute);
  if (could_not_execute && is_of_the_program(error)) return exited_with(kNotExecuted);
  if (could_not_execute)
    return trouble(fmt::format("the program cannot be executed: {}", std::strerror(error)));
  std::string message = of_detail<std::string>(result, "message", result.verdict.label());
  if (error != 0) message += fmt::format(": {}", std::strerror(error));
  return trouble(step.empty() ? message : step + ": " + message);
}

std::string seconds(int64_t us) {
  return fmt::format("{}.{:03}", us / 1'000'000, us / 1000 % 1000);
}

std::string_view word_of(Status status) {
  switch (status) {
    case Status::kWell:
      return "";
    case Status::kRunTimeError:
      return "RE";
    case Status::kSignal:
      return "SG";
    case Status::kTimeout:
      return "TO";
    case Status::kSandbox:
      return "XX";
  }
  return "XX";
}

std::string status_and_message(const IsolateEnd& end) {
  if (end.status == Status::kWell) return {};
  std::string line = end.message;
  std::replace(line.begin(), line.end(), '\n', ' ');
  return fmt::format("status:{}\nmessage:{}\n", word_of(end.status), line);
}

std::string figures(const JobResult& result, const IsolateOptions& options, const IsolateEnd& end,
                    uint64_t placed) {
  const runtime::Usage& usage = result.usage;
  std::string text = fmt::format(
      "time:{}\ntime-wall:{}\nmax-rss:{}\ncsw-voluntary:{}\ncsw-forced:{}\n", seconds(usage.cpu_us),
      seconds(usage.wall_us), usage.max_rss_kb, usage.switches_voluntary, usage.switches_forced);
  // The figure without a cgroup is what processes hold, and the files of the box are none of that.
  const bool counted = result.enforced.has(sandbox::Layer::kCgroupMemory);
  const int64_t own = usage.memory_peak_bytes - static_cast<int64_t>(counted ? placed : 0);
  if (options.groups) text += fmt::format("cg-mem:{}\n", std::max<int64_t>(own, 0) / 1024);
  if (options.groups && end.out_of_memory) text += "cg-oom-killed:1\n";
  return text;
}

}  // namespace

IsolateEnd trouble(std::string message) {
  return {Status::kSandbox, std::move(message), 2, 0, false, false};
}

IsolateEnd end_of(const JobResult& result, const IsolateOptions& options) {
  switch (family_of(result.verdict.outcome)) {
    case Family::kTime:
      return timeout(of_detail<std::string>(result, "limit", "") == "wall", true);
    case Family::kMemory: {
      IsolateEnd end = by_signal(SIGKILL);
      end.out_of_memory = true;
      return end;
    }
    case Family::kOutput:
      return by_signal(SIGXFSZ);
    case Family::kCancelled:
      return {Status::kSignal, "Interrupted", 1, 0, true, false};
    case Family::kTrouble:
      return sandbox_error(result);
    case Family::kPolicy:
      if (result.verdict.outcome != Outcome::kUnsafeCode) break;
      return by_signal(SIGSYS, fmt::format(" (forbidden system call {})",
                                           of_detail<std::string>(result, "syscall", "")));
    case Family::kOk:
    case Family::kWrongAnswer:
    case Family::kFailed:
    case Family::kNoProgram:
    case Family::kOtherLimit:
      break;
  }
  return by_itself(result, options);
}

std::string meta_text(const IsolateEnd& end) { return status_and_message(end); }

std::string meta_text(const IsolateEnd& end, const JobResult& result, const IsolateOptions& options,
                      uint64_t placed) {
  if (end.status == Status::kSandbox) return meta_text(end);
  std::string text;
  if (end.killed) text = status_and_message(end) + "killed:1\n";
  text += figures(result, options, end, placed);
  if (end.status == Status::kSignal && end.signal != 0) {
    text += fmt::format("exitsig:{}\n", end.signal);
  } else if (end.status == Status::kWell || end.status == Status::kRunTimeError) {
    text += fmt::format("exitcode:{}\n", end.code);
  }
  return end.killed ? text : text + status_and_message(end);
}

std::string status_line(const IsolateEnd& end, const JobResult& result) {
  if (end.status != Status::kWell) return end.message;
  return fmt::format("OK ({} sec real, {} sec wall)", seconds(result.usage.cpu_us),
                     seconds(result.usage.wall_us));
}

}  // namespace cli
