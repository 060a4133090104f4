#include "tools/cli/run/run_job.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "runtime/json/job/job_fields.h"
#include "runtime/json/job/job_json.h"
#include "runtime/values/python_coding.h"
#include "runtime/values/utf8.h"
#include "sandbox/sys/file.h"
#include "tools/cli/project/defaults.h"

namespace cli {
namespace {

using runtime::Job;

constexpr size_t kLargestFile = runtime::kMaxJobBytes;

// A file that cannot be read is a fault of the command line; one with the wrong content, of the
// job.
std::optional<Refusal> read_bytes(const std::string& path, std::string& into) {
  sys::Result<std::string> text =
      path == "-" ? sys::read_all(STDIN_FILENO, kLargestFile) : sys::read_file(path, kLargestFile);
  if (!text) {
    std::string why =
        text.error().code() != 0 ? std::strerror(text.error().code()) : text.error().text();
    return Refusal{fmt::format("{}: {}", path == "-" ? "stdin" : path, why)};
  }
  into = std::move(text).value();
  return std::nullopt;
}

std::optional<Refusal> check_text(const std::string& path, const std::string& into) {
  if (runtime::is_utf8(into)) return std::nullopt;
  return Refusal{fmt::format("{}: byte {} is not UTF-8", path == "-" ? "stdin" : path,
                             runtime::valid_utf8_prefix(into)),
                 kExitSandbox};
}

std::optional<Refusal> read_text(const std::string& path, std::string& into) {
  auto refusal = read_bytes(path, into);
  return refusal ? refusal : check_text(path, into);
}

// A source may say itself that it is no UTF-8.
std::optional<Refusal> read_source(const std::string& path, Job& job) {
  if (auto refusal = read_bytes(path, job.source)) return refusal;
  job.source_has_coding = !runtime::python_coding(job.source).empty();
  return job.source_has_coding ? std::nullopt : check_text(path, job.source);
}

// The ranges are those of job lines, but that an option may be finer than their units.
std::optional<Refusal> set_limits(const RunOptions& options, runtime::Limits& limits) {
  for (const runtime::LimitRule& rule : runtime::kLimits) {
    const auto given = options.limits.find(rule.option);
    if (given == options.limits.end()) continue;
    rule.assign(limits, given->second);
    const int64_t value = rule.get(limits);
    if (value <= rule.max && (value >= rule.min || rule.finer_option)) continue;
    return Refusal{fmt::format("{}: out of range, which is from {}{} to {}{}", rule.option,
                               rule.min, rule.unit(), rule.max, rule.unit())};
  }
  return std::nullopt;
}

// The inputs go through the reader of job lines, which alone knows how JSON becomes a value. Their
// text is not re-written on the way, so integers of any size survive.
std::optional<Refusal> set_calls(const RunOptions& options, Job& job) {
  std::string inputs;
  if (auto refusal = read_text(options.inputs, inputs)) return refusal;
  bool is_array = inputs.find_first_not_of(" \t\r\n") == inputs.find('[') &&
                  inputs.find('[') != std::string::npos;
  if (!is_array || !nlohmann::json::accept(inputs)) {
    return Refusal{fmt::format("{}: not a JSON array; one element per call", options.inputs),
                   kExitSandbox};
  }
  nlohmann::json heading = {
      {"source", ""}, {"mode", "call"}, {"func", options.func}, {"array", options.array}};
  std::string line = heading.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  line.back() = ',';
  line += "\"inputs\":" + inputs + "}";
  sys::Result<Job> read = runtime::parse_job(line, runtime::JobDefaults{});
  if (!read)
    return Refusal{fmt::format("{}: {}", options.inputs, read.error().text()), kExitSandbox};
  job = std::move(read).value();
  return std::nullopt;
}

// Several runs need the same stdin, and a stream can be read only once; a record repeats it.
std::optional<Refusal> set_stdin(const RunOptions& options, RunJob& made) {
  int fd = options.program == "-" ? -1 : STDIN_FILENO;
  if (!options.stdin_file.empty()) {
    sys::Result<sys::OwnedFd> file = sys::open(options.stdin_file, O_RDONLY);
    if (!file) {
      return Refusal{fmt::format("{}: {}", options.stdin_file, std::strerror(file.error().code()))};
    }
    made.stdin_file = std::move(file).value();
    fd = made.stdin_file.get();
  }
  if (fd < 0 || ::fcntl(fd, F_GETFD) < 0) return std::nullopt;
  if (options.determinism <= 1 && !options.record) {
    made.job.stdin_fd = fd;
    return std::nullopt;
  }
  sys::Result<std::string> bytes = sys::read_all(fd, kLargestFile);
  if (!bytes) return Refusal{"stdin: " + bytes.error().text()};
  made.job.stdin_bytes = std::move(bytes).value();
  return std::nullopt;
}

}  // namespace

std::variant<RunJob, Refusal> make_run_job(const RunOptions& options, const CommonOptions& common) {
  RunJob made;
  Job program;
  if (options.is_command || options.program.empty()) {
    program.source = options.program;
  } else if (auto refusal = read_source(options.program, program)) {
    return *std::move(refusal);
  }
  if (!options.func.empty()) {
    if (!options.args.empty()) return Refusal{"--call takes its arguments from --inputs, not ARGS"};
    if (options.program == "-" && options.inputs == "-") {
      return Refusal{"PROGRAM and --inputs cannot both be stdin"};
    }
    if (auto refusal = set_calls(options, made.job)) return *std::move(refusal);
  } else if (auto refusal = set_stdin(options, made)) {
    return *std::move(refusal);
  }
  made.job.id = "job-1";
  made.job.source = std::move(program.source);
  made.job.source_has_coding = program.source_has_coding;
  made.job.compiler_flags = options.compiler_flags;
  made.job.argv = options.args;
  sys::Result<runtime::JobDefaults> defaults = job_defaults(common.project, "");
  if (!defaults) return Refusal{common.project.file + ": " + defaults.error().text()};
  made.job.limits = defaults->job.limits;
  std::string name = chosen_template(common);
  made.job.template_name = name.empty() ? defaults->job.template_name : name;
  if (auto refusal = set_limits(options, made.job.limits)) return *std::move(refusal);
  if (options.profile) {
    made.job.policy.profile = *options.profile;
    made.job.policy.has_profile = true;
  }
  made.job.determinism_runs = options.determinism;
  made.job.fixed = options.fixed;
  made.job.observe = options.observe;
  if (options.observe && options.determinism > 1)
    return Refusal{"--observe looks at one run; leave out --determinism"};
  made.job.record = options.record;
  return made;
}

}  // namespace cli
