#include "runtime/host/proc_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace runtime {

namespace {

constexpr std::string_view kBlanks = " \t\n";

// The next word of `text`, which moves on; empty at the end.
std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

template <typename Number>
std::optional<Number> number_in(std::string_view word) {
  Number value = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (problem != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// Skips to a field of /proc/PID/stat, by the numbers of proc(5); only to those behind the name.
bool skip_to_field(int number, std::string_view& text) {
  // The name stands between parentheses and may hold any of them, so the last one counts.
  const size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return false;
  text.remove_prefix(name_end + 1);
  constexpr int kFirst = 3;
  for (int i = kFirst; i < number; ++i) next_word(text);
  return true;
}

}  // namespace

std::optional<uint64_t> ticks_in_stat(std::string_view text) {
  if (!skip_to_field(14, text)) return std::nullopt;
  uint64_t ticks = 0;
  for (int i = 0; i < 4; ++i) {  // utime, stime, cutime, cstime
    const auto part = number_in<uint64_t>(next_word(text));
    if (!part || __builtin_add_overflow(ticks, *part, &ticks)) return std::nullopt;
  }
  return ticks;
}

std::optional<uint64_t> ready_in_loadavg(std::string_view text) {
  for (int averages = 0; averages < 3; ++averages) (void)next_word(text);
  const std::string_view counts = next_word(text);  // "3/512"
  const size_t end = counts.find('/');
  return end == counts.npos ? std::nullopt : number_in<uint64_t>(counts.substr(0, end));
}

std::optional<uint64_t> start_in_stat(std::string_view text) {
  if (!skip_to_field(22, text)) return std::nullopt;
  return number_in<uint64_t>(next_word(text));
}

std::vector<int> pids_in(std::string_view text) {
  std::vector<int> pids;
  for (;;) {
    const auto pid = number_in<int>(next_word(text));
    if (!pid || *pid <= 0) return pids;
    pids.push_back(*pid);
  }
}

bool is_ready_in_stat(std::string_view text) {
  return skip_to_field(3, text) && next_word(text) == "R";
}

std::optional<CpuTimes> times_in_schedstat(std::string_view text) {
  const auto ran = number_in<uint64_t>(next_word(text));
  const auto waited = number_in<uint64_t>(next_word(text));
  if (!ran || !waited) return std::nullopt;
  return CpuTimes{*ran, *waited};
}

uint64_t disk_faults_in_stat(std::string_view text) {
  if (!skip_to_field(12, text)) return 0;
  const uint64_t own = number_in<uint64_t>(next_word(text)).value_or(0);
  return own + number_in<uint64_t>(next_word(text)).value_or(0);
}

std::optional<uint64_t> stolen_in_stat(std::string_view text, unsigned cpu) {
  const std::string name = "cpu" + std::to_string(cpu);
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (next_word(line) != name) continue;
    for (int i = 0; i < 7; ++i) next_word(line);  // user, nice, system, idle, iowait, irq, softirq
    return number_in<uint64_t>(next_word(line));
  }
  return std::nullopt;
}

std::optional<uint64_t> stalled_in_pressure(std::string_view text) {
  if (next_word(text) != "some") return std::nullopt;
  constexpr std::string_view kTotal = " total=";
  const size_t at = text.substr(0, text.find('\n')).find(kTotal);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + kTotal.size());
  return number_in<uint64_t>(next_word(text));
}

std::optional<int64_t> number_of_line(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.starts_with(key)) {
      line.remove_prefix(key.size());
      return number_in<int64_t>(next_word(line));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::nullopt;
}

}  // namespace runtime
