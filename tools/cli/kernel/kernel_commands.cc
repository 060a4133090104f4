#include "tools/cli/kernel/kernel_commands.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "runtime/host/proc.h"
#include "sandbox/sys/file.h"
#include "tools/cli/kernel/kernel_loop.h"
#include "tools/cli/kernel/kernel_spec.h"
#include "tools/cli/refusal.h"
#include "tools/cli/run/run_job.h"

#ifndef ZYGO_VERSION
#define ZYGO_VERSION "0"
#endif

namespace cli {
namespace {

// What a cell may use where nobody says anything else: a notebook is somebody's work of a day.
runtime::Limits limits_of_cells() {
  runtime::Limits limits;
  limits.wall = limits.cpu = sys::Milliseconds(runtime::kDayMs);
  limits.memory = sys::mebibytes(2048);
  limits.disk = sys::mebibytes(1024);
  limits.files = 100'000;
  limits.out = limits.err = sys::mebibytes(64);
  return limits;
}

// The options that were said go over them.
std::variant<runtime::Job, Refusal> job_of_cells(const CommandLine& line) {
  RunOptions of_cells = line.run;
  of_cells.is_command = true;  // there is no file to read
  of_cells.stdin_file = "/dev/null";
  auto made = make_run_job(of_cells, line.common);
  if (auto* refusal = std::get_if<Refusal>(&made)) return *refusal;
  runtime::Job job = std::move(std::get<RunJob>(made).job);
  const runtime::Limits usual, of_kernel = limits_of_cells();
  for (const runtime::LimitRule& rule : runtime::kLimits) {
    if (!line.run.limits.contains(rule.option) && rule.get(job.limits) == rule.get(usual))
      rule.set(job.limits, rule.get(of_kernel));
  }
  if (!line.run.profile) job.policy.profile = sandbox::Profile::kSubprocess;
  job.policy.has_profile = true;
  job.policy.refusals = runtime::Refusals::kOverlooked;  // an error for the cell, which goes on
  job.stdin_fd = -1;
  return job;
}

// Nodes last as long as the notebook.
void keep_nodes(runtime::EngineOptions& options, const runtime::Limits& limits) {
  constexpr uint64_t kTimes = 4;
  options.nodes_idle = std::chrono::hours(24 * 365);
  options.nodes_memory = std::max(options.nodes_memory, sys::Bytes{limits.memory.count * kTimes});
}

// Who started the kernel says so; it ends when they have. An error: they have already, and it is
// an orphan.
sys::Result<sys::OwnedFd> parent_of_kernel() {
  const char* const text = std::getenv("JPY_PARENT_PID");
  const std::string_view number = text ? text : "";
  pid_t parent = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), parent);
  constexpr pid_t kOfOrphans = 1;
  if (read.ec != std::errc()) return sys::OwnedFd();
  if (parent != kOfOrphans && ::getppid() == kOfOrphans)
    return sys::Error::because("who started this kernel (JPY_PARENT_PID) has ended");
  if (parent != ::getppid()) return sys::OwnedFd();
  return sys::OwnedFd(static_cast<int>(::syscall(SYS_pidfd_open, parent, 0)));
}

sys::Result<void> write_spec(const std::string& folder, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return sys::Error::because("make " + folder + ": " + error.message());
  // Jupyter reads it at any time: it is there whole, or as it was.
  const std::string path = folder + "/kernel.json", part = path + ".part";
  std::ofstream file(part, std::ios::trunc);
  file << text;
  file.close();
  if (file) std::filesystem::rename(part, path, error);
  if (file && !error) return {};
  std::error_code ignored;
  std::filesystem::remove(part, ignored);
  return sys::Error::because("write " + path);
}

}  // namespace

int kernel_run_command(const CommandLine& line, const Parts& parts) {
  const std::string& path = line.kernel.connection_file;
  constexpr size_t kLongest = 65536;
  const sys::Result<std::string> text = sys::read_file(path, kLongest);
  if (!text) return refuse("kernel run", {text.error().text()});
  const sys::Result<ConnectionFile> file = parse_connection_file(*text);
  if (!file) return refuse("kernel run", {path + ": " + file.error().text()});
  auto options =
      engine_options(line.common, parts.builtin_templates, runtime::usable_cpus(), parts.stop);
  if (auto* refusal = std::get_if<Refusal>(&options)) return refuse("kernel run", *refusal);
  auto job = job_of_cells(line);
  if (auto* refusal = std::get_if<Refusal>(&job)) return refuse("kernel run", *refusal);
  auto& of_engine = std::get<runtime::EngineOptions>(options);
  keep_nodes(of_engine, std::get<runtime::Job>(job).limits);
  const auto parent = parent_of_kernel();
  if (!parent) return refuse("kernel run", {parent.error().text(), kExitSandbox});
  const auto sockets = Sockets::bind(*file);
  if (!sockets) return refuse("kernel run", {sockets.error().text(), kExitSandbox});
  auto engine = parts.start_engine(std::move(of_engine));
  if (!engine) return refuse("kernel run", {engine.error().text(), kExitSandbox});

  std::vector<int> ends;
  if (parts.stop) ends.push_back(parts.stop->fd());
  if (*parent) ends.push_back(parent->get());
  EngineCells cells(**engine, std::get<runtime::Job>(std::move(job)));
  KernelLoop kernel({cells, **sockets, file->key, std::move(ends), ZYGO_VERSION});
  const sys::Result<void> ran = kernel.run();
  return ran ? kExitOk : refuse("kernel run", {ran.error().text(), kExitSandbox});
}

int kernel_install_command(const CommandLine& line, const Parts& parts) {
  const auto options = engine_options(line.common, parts.builtin_templates, 1, parts.stop);
  if (const auto* refusal = std::get_if<Refusal>(&options))
    return refuse("kernel install", *refusal);
  const bool is_word = !line.kernel.name.empty() &&
                       line.kernel.name.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
                           std::string::npos &&
                       line.kernel.name.front() != '.';
  if (!is_word) return refuse("kernel install", {"--name: letters, digits, - _ and . only"});
  const std::string folder = kernel_folder(line.kernel, ::getenv);
  if (folder.empty()) return refuse("kernel install", {"there is no HOME; say --prefix"});
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto is_file = [](const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored);
  };
  const auto options_of_kernel =
      options_to_run(line.arguments, std::filesystem::current_path(error), is_file);
  const sys::Result<void> written =
      write_spec(folder, kernel_json(self.string(), options_of_kernel, line.kernel.display_name));
  if (!written) return refuse("kernel install", {written.error().text()});
  return say("kernel \"" + line.kernel.name + "\" is in " + folder);
}

}  // namespace cli
