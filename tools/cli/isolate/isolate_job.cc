#include "tools/cli/isolate/isolate_job.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>

#include "sandbox/sys/file.h"

namespace cli {
namespace {

using runtime::Job;
using sys::Error;
using sys::Result;

constexpr const char* kTemplate = "isolate";
constexpr sys::Milliseconds kNoTime{86'400'000};
constexpr sys::Bytes kNoMemory{uint64_t{1} << 40};
constexpr uint32_t kNoProcesses = 32768, kNoOpenFiles = 1048576;
// The most that a program may write where no quota says it, and that is kept of a stream.
constexpr uint64_t kRoom = uint64_t{1} << 30;
constexpr uint32_t kFiles = 60'000;  // as many come back
constexpr sys::Bytes kErrors = sys::mebibytes(64);
// The surroundings of isolate's programs refuse these calls, or make them useless. Here the filter
// refuses them: they are no crime, unless a program does nothing else.
constexpr uint32_t kForgiven = 1000;
constexpr std::array kNoCrimes = std::to_array<const char*>(
    {"socket",    "socketpair", "open",      "openat",      "creat",       "truncate",  "mkdir",
     "mkdirat",   "mknod",      "mknodat",   "link",        "linkat",      "symlink",   "symlinkat",
     "unlink",    "unlinkat",   "rmdir",     "rename",      "renameat",    "renameat2", "chmod",
     "fchmodat",  "chown",      "lchown",    "fchownat",    "utime",       "utimes",    "futimesat",
     "utimensat", "setxattr",   "lsetxattr", "removexattr", "lremovexattr"});

using Environment = std::vector<std::pair<std::string, std::string>>;

void set(Environment& env, const std::string& name, const std::string& value) {
  std::erase_if(env, [&name](const auto& entry) { return entry.first == name; });
  if (!value.empty()) env.emplace_back(name, value);
}

Environment environment_of(const IsolateOptions& options) {
  Environment env;
  for (char** entry = ::environ; options.full_environment && *entry; ++entry) {
    const std::string text = *entry;
    const size_t equals = std::min(text.find('='), text.size());
    if (equals < text.size()) set(env, text.substr(0, equals), text.substr(equals + 1));
  }
  set(env, "LIBC_FATAL_STDERR_", "1");
  for (const auto& [name, value] : options.environment) {
    const char* inherited = ::getenv(name.c_str());
    if (value) {
      set(env, name, *value);
    } else if (inherited) {
      set(env, name, inherited);
    }
  }
  return env;
}

// A path that a stream names, as a program that starts in `options.directory` would.
Result<Stream> stream_of(const std::string& name, const IsolateOptions& options,
                         const Layout& layout) {
  Stream stream;
  if (name.empty()) return stream;
  const auto path = plain_path(name.starts_with('/') ? name : options.directory + "/" + name);
  if (path == "/dev/null") {
    stream.kind = Stream::Kind::kNowhere;
    return stream;
  }
  const auto place = path ? find_place(layout, *path) : std::nullopt;
  if (!place || place->rest.empty())
    return Error::because(
        fmt::format("{}: not a file of the box, of a directory of --dir, or /dev/null", name));
  stream.kind = Stream::Kind::kFile;
  stream.place = *place;
  return stream;
}

Result<Stream> written_stream(const std::string& name, const IsolateOptions& options,
                              const Layout& layout) {
  Stream stream = TRY(stream_of(name, options, layout));
  if (stream.kind == Stream::Kind::kFile &&
      stream.place.folder->writes == HostFolder::Writes::kNothing)
    return Error::because(name + ": that directory is only read");
  return stream;
}

void set_limits(const IsolateOptions& options, const std::optional<BoxQuota>& quota,
                IsolateJob& made) {
  runtime::Limits& limits = made.job.limits;
  limits.wall = options.wall_time.value_or(kNoTime);
  limits.cpu = kNoTime;
  if (options.time)
    limits.cpu =
        std::min(kNoTime, *options.time + options.extra_time.value_or(sys::Milliseconds(0)));
  limits.memory = {options.group_memory.value_or(kNoMemory).count + made.placed};
  limits.pids = options.processes.value_or(kNoProcesses);
  limits.open_files = options.open_files == 0 ? kNoOpenFiles : options.open_files;
  limits.disk = quota ? sys::kibibytes(quota->kibibytes) : sys::Bytes{made.placed + kRoom};
  limits.files = quota ? static_cast<uint32_t>(std::min<uint64_t>(quota->files, kFiles)) : kFiles;
  limits.outputs = limits.disk;
  limits.out = options.file_size.value_or(sys::Bytes{kRoom});
  limits.err = made.err.kind == Stream::Kind::kFile ? limits.out : kErrors;
  runtime::Execution& execution = *made.job.execution;
  execution.address_space = options.address_space;
  execution.file_size = options.file_size;
  execution.stack = options.stack.value_or(sys::Bytes{UINT64_MAX});
}

Result<void> set_files(const Layout& layout, IsolateJob& made) {
  Job& job = made.job;
  job.files.push_back({kBoxInScratch, "", true});
  for (const HostFolder& folder : layout.folders) {
    if (folder.writes == HostFolder::Writes::kNothing) continue;
    Contents taken = TRY(take_in(folder));
    made.placed += taken.pages_bytes;
    std::move(taken.files.begin(), taken.files.end(), std::back_inserter(job.files));
    job.outputs.insert(job.outputs.end(), {folder.scratch + "**", folder.scratch + "**/"});
    made.sources.push_back({&folder, std::move(taken.taken), std::move(taken.passed_over)});
  }
  return {};
}

Result<void> set_streams(const IsolateOptions& options, const Layout& layout, IsolateJob& made) {
  made.in = TRY(stream_of(options.stdin_file, options, layout));
  made.out = TRY(written_stream(options.stdout_file, options, layout));
  made.err = TRY(written_stream(options.stderr_file, options, layout));
  if (made.in.kind == Stream::Kind::kFile) {
    const Place& place = made.in.place;
    auto file = open_beneath(place.folder->outside, place.rest, O_RDONLY | O_NONBLOCK);
    if (!file) return std::move(file).error().context("--stdin=" + options.stdin_file);
    made.input = std::move(file).value();
    made.job.stdin_fd = made.input.get();
  } else if (made.in.kind == Stream::Kind::kOurs && ::fcntl(STDIN_FILENO, F_GETFD) >= 0) {
    made.job.stdin_fd = STDIN_FILENO;
  }
  using Errors = runtime::Execution::Errors;
  if (options.errors_with_output) made.job.execution->errors = Errors::kWithOutput;
  if (made.err.kind == Stream::Kind::kNowhere) made.job.execution->errors = Errors::kNowhere;
  return {};
}

}  // namespace

Result<IsolateJob> make_isolate_job(const IsolateOptions& options, const Layout& layout,
                                    const std::optional<BoxQuota>& quota) {
  IsolateJob made;
  Job& job = made.job;
  job.id = "box-" + std::to_string(options.box);
  job.template_name = kTemplate;
  job.source = options.command.front();
  job.argv.assign(options.command.begin() + 1, options.command.end());
  job.env = environment_of(options);
  job.execution = runtime::Execution{};
  job.execution->directory = options.directory;
  TRY(set_streams(options, layout, made));
  TRY(set_files(layout, made));
  set_limits(options, quota, made);
  if (quota && made.placed > job.limits.disk.count)
    return Error::because("the box holds more than its quota");
  return made;
}

runtime::TemplateSpec isolate_template() {
  auto spec = std::make_shared<runtime::RuntimeSpec>();
  spec->name = kTemplate;
  spec->title = "A program of a box";
  spec->profile = sandbox::Profile::kSubprocess;
  for (const char* call : kNoCrimes) spec->forgiven.emplace_back(call, kForgiven);
  return {kTemplate, {}, "", std::move(spec)};
}

}  // namespace cli
