#include "runtime/sessions/going_on.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <optional>

namespace runtime {
namespace {

struct Limit {
  uint64_t soft = 0, hard = 0;
  bool operator==(const Limit&) const = default;
};
using AllLimits = std::array<std::optional<Limit>, RLIM_NLIMITS>;

std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

std::optional<uint64_t> amount(std::string_view word) {
  if (word == "unlimited") return RLIM_INFINITY;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool is_whole = error == std::errc() && end == word.data() + word.size();
  return is_whole ? std::optional(value) : std::nullopt;
}

// A headline, and then a line for each, in the order of their numbers (fs/proc/base.c).
AllLimits parse_limits(std::string_view text) {
  constexpr size_t kName = 26;  // columns
  AllLimits all;
  text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  for (std::optional<Limit>& limit : all) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line.remove_prefix(std::min(kName, line.size()));
    const auto soft = amount(next_word(line)), hard = amount(next_word(line));
    if (soft && hard) limit = Limit{*soft, *hard};
  }
  return all;
}

// As sandbox::apply_rlimits() sets them.
void lower(AllLimits& all, int resource, uint64_t wanted) {
  std::optional<Limit>& limit = all[static_cast<size_t>(resource)];
  if (limit) limit->soft = limit->hard = std::min(wanted, limit->hard);
}

AllLimits expected(const std::string& of_parent, const sandbox::Rlimits& given) {
  AllLimits all = parse_limits(of_parent);
  lower(all, RLIMIT_CORE, given.core.count);
  lower(all, RLIMIT_NOFILE, given.open_files);
  lower(all, RLIMIT_MEMLOCK, given.memlock.count);
  lower(all, RLIMIT_SIGPENDING, given.pending_signals);
  if (given.processes) lower(all, RLIMIT_NPROC, *given.processes);
  if (given.file_size) lower(all, RLIMIT_FSIZE, given.file_size->count);
  if (given.data) lower(all, RLIMIT_DATA, given.data->count);
  if (given.stack) lower(all, RLIMIT_STACK, given.stack->count);
  if (given.cpu_seconds) lower(all, RLIMIT_CPU, *given.cpu_seconds);
  return all;
}

// The rest of the line that begins with `name`; empty: there is none.
std::string_view line_of(std::string_view text, std::string_view name) {
  for (size_t at = 0; at < text.size();) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    if (line.starts_with(name)) return line.substr(name.size());
    at += line.size() + 1;
  }
  return {};
}

bool is_same(const ProcessTexts& one, const ProcessTexts& other, std::string_view name) {
  const std::string_view line = line_of(one.status, name);
  return !line.empty() && line == line_of(other.status, name);
}

// A handler would run when the process is let go on.
bool handles_continue(std::string_view status) {
  std::string_view mask = line_of(status, "SigCgt:");
  mask.remove_prefix(std::min(mask.find_first_not_of(" \t"), mask.size()));
  uint64_t caught = 0;
  const auto [end, error] = std::from_chars(mask.data(), mask.data() + mask.size(), caught, 16);
  return error != std::errc() || (caught >> (SIGCONT - 1) & 1) != 0;
}

// proc_pid_stat(5): its number among the fields; the second may have anything in it.
std::string_view field_of(std::string_view stat, int number) {
  constexpr int kSecond = 2;
  const size_t name_ends = stat.rfind(')');
  if (name_ends == stat.npos) return {};
  stat.remove_prefix(name_ends + 1);
  std::string_view field;
  for (int i = kSecond; i < number; ++i) field = next_word(stat);
  return field;
}

bool is_scheduled_alike(const std::string& process, const std::string& parent) {
  constexpr int kNice = 19, kPolicy = 41;
  return field_of(process, kNice) == field_of(parent, kNice) &&
         field_of(process, kPolicy) == std::to_string(SCHED_IDLE);
}

}  // namespace

bool is_as_forked(const ProcessTexts& process, const ProcessTexts& parent,
                  const sandbox::Rlimits& given) {
  const AllLimits limits = parse_limits(process.limits);
  const bool has_all = std::all_of(limits.begin(), limits.end(),
                                   [](const auto& limit) { return limit.has_value(); });
  return has_all && limits == expected(parent.limits, given) &&
         is_scheduled_alike(process.stat, parent.stat) && !handles_continue(process.status) &&
         is_same(process, parent, "NSpgid:") && is_same(process, parent, "NSsid:") &&
         is_same(process, parent, "THP_enabled:") && is_same(process, parent, "Cpus_allowed:") &&
         is_same(process, parent, "Mems_allowed:") && is_same(process, parent, "Seccomp:") &&
         is_same(process, parent, "Seccomp_filters:");
}

// proc_pid_stat(5); in ticks. Who has had none has faulted no page.
sys::Nanoseconds cpu_of_children(std::string_view stat) {
  constexpr int kFaults = 11, kUser = 16, kSystem = 17;
  if (amount(field_of(stat, kFaults)).value_or(0) == 0) return {};
  static const auto tick = sys::Nanoseconds(1'000'000'000 / ::sysconf(_SC_CLK_TCK));
  const uint64_t ticks =
      amount(field_of(stat, kUser)).value_or(0) + amount(field_of(stat, kSystem)).value_or(0) + 2;
  return static_cast<int64_t>(ticks) * tick;
}

std::optional<uint64_t> start_of_heap(std::string_view stat) {
  constexpr int kStartOfBreak = 47;
  const std::optional<uint64_t> start = amount(field_of(stat, kStartOfBreak));
  return start == uint64_t{0} ? std::nullopt : start;
}

bool holds_lock(std::string_view fdinfo) {
  return fdinfo.starts_with("lock:") || fdinfo.find("\nlock:") != fdinfo.npos;
}

bool is_as_given(std::string_view fdinfo) {
  std::string_view flags = line_of(fdinfo, "flags:");
  flags.remove_prefix(std::min(flags.find_first_not_of(" \t"), flags.size()));
  constexpr int kOctal = 8;
  unsigned value = 0;
  const auto [end, error] =
      std::from_chars(flags.data(), flags.data() + flags.size(), value, kOctal);
  return error == std::errc() && (value & O_CLOEXEC) == 0 && !holds_lock(fdinfo);
}

}  // namespace runtime
