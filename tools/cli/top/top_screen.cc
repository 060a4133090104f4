#include "tools/cli/top/top_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "tools/cli/units.h"

namespace cli {
namespace {

using Second = TopStats::Second;
using State = TopPilots::State;

constexpr size_t kLead = 9;       // of the lines that begin with a word
constexpr size_t kBar = 24;       // characters of a bar
constexpr size_t kOutcomes = 40;  // columns of the left table
constexpr size_t kFailures = 5;   // at least, where there is room
constexpr size_t kLosses = 3;     // pilots, at most

std::string safe(const std::string& text) { return escape_controls(text, Lines::kEscape); }

std::string padded(const std::string& text, size_t columns) {
  const std::string cut = clip(text, columns);
  return cut + std::string(columns - columns_of(cut), ' ');
}

// 1234567 as 1,234,567.
std::string grouped(int64_t number) {
  std::string digits = fmt::format("{}", number);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string bar(int64_t value, int64_t most) {
  const auto share = most <= 0 ? 0.0 : static_cast<double>(value) / static_cast<double>(most);
  size_t full = static_cast<size_t>(std::clamp(share, 0.0, 1.0) * kBar + 0.5);
  if (value > 0 && full == 0) full = 1;
  return "[" + std::string(full, '#') + std::string(kBar - full, '.') + "]";
}

// The last values as a row of blocks, each as high as its share of the largest.
std::string spark(const std::vector<Second>& seconds, int64_t Second::*member, size_t columns) {
  static constexpr const char* kBlocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const size_t count = std::min(columns, seconds.size());
  int64_t most = 1;
  for (size_t i = seconds.size() - count; i < seconds.size(); ++i)
    most = std::max(most, seconds[i].*member);
  std::string row;
  for (size_t i = seconds.size() - count; i < seconds.size(); ++i) {
    const double share = static_cast<double>(seconds[i].*member) / static_cast<double>(most);
    row += kBlocks[share > 0 ? std::max(size_t{1}, static_cast<size_t>(share * 8 + 0.5)) : 0];
  }
  return row;
}

Second last_of(const TopStats& stats) {
  return stats.seconds.empty() ? Second{} : stats.seconds.back();
}

std::string percent(int64_t part, int64_t whole) {
  if (whole <= 0) return "-";
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string up_time(int64_t us) {
  const int64_t minutes = us / 60'000'000;
  if (minutes < 1) return fmt::format("{} s", us / 1'000'000);
  if (minutes < 60) return fmt::format("{} min", minutes);
  return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

std::string clock_of(int64_t time_ms) {
  const auto seconds = static_cast<std::time_t>(time_ms / 1000);
  std::tm local{};
  if (::localtime_r(&seconds, &local) == nullptr) return "--:--:--";
  return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

struct Screen {
  std::vector<std::string> lines;
  ScreenSize size;

  size_t left() const { return size.rows - std::min(size.rows, lines.size()); }
  void add(const std::string& text) {
    const size_t end = text.find_last_not_of(' ') + 1;
    if (left() > 0) lines.push_back(clip(text.substr(0, end), size.columns));
  }
  // The whole line in one colour: paint is no text, and must not be cut.
  void add(const Style& style, Colour colour, const std::string& text) {
    if (left() > 0) lines.push_back(style.paint(colour, clip(text, size.columns)));
  }
};

void add_gauges(const TopStats& stats, Screen& screen) {
  const Second now = last_of(stats);
  screen.add(fmt::format("{:<{}}{} ended, {} OK, {}/s now{}", "jobs", kLead, grouped(stats.total),
                         percent(stats.ok, stats.total), grouped(now.ended),
                         now.refused > 0 ? fmt::format(", {} refused", now.refused) : ""));
  screen.add(fmt::format("{:<{}}{} {} of {} wait", "queue", kLead,
                         bar(stats.queued, stats.queue_limit), grouped(stats.queued),
                         grouped(stats.queue_limit)));
  screen.add(fmt::format("{:<{}}{} {} of {} busy", "workers", kLead,
                         bar(std::min(stats.running, stats.workers), stats.workers),
                         std::min(stats.running, stats.workers), stats.workers));
  screen.add(fmt::format("{:<{}}{} cells, {} templates, {} forks, {} of CPU, {} resident", "pool",
                         kLead, stats.cells, stats.templates, grouped(stats.forks),
                         short_time(stats.job_cpu_us),
                         format_size(static_cast<uint64_t>(stats.resident_bytes))));
  const size_t wide = screen.size.columns - std::min(screen.size.columns, kLead);
  screen.add(fmt::format("{:<{}}{}", "jobs/s", kLead, spark(stats.seconds, &Second::ended, wide)));
  screen.add(fmt::format("{:<{}}{}", "p50", kLead, spark(stats.seconds, &Second::p50, wide)));
}

std::string outcome_row(const TopStats& stats, size_t row) {
  if (row >= stats.labels.size()) return "";
  const auto& [label, count] = stats.labels[row];
  return fmt::format("{} {:>9} {:>7}", padded(safe(label), 20), grouped(count),
                     percent(count, stats.total));
}

std::string stage_row(const TopStats& stats, size_t row) {
  if (row >= stats.stages.size()) return "";
  const TopStats::Stage& stage = stats.stages[row];
  return fmt::format("{} {:>8} {:>8} {:>8}", padded(safe(stage.name), 8), short_time(stage.p50),
                     short_time(stage.p90), short_time(stage.p99));
}

void add_tables(const TopStats& stats, Screen& screen, const Style& style) {
  const bool both = screen.size.columns >= kOutcomes + 36;
  const std::string right =
      both ? fmt::format("{:<8} {:>8} {:>8} {:>8}", "station", "p50", "p90", "p99") : "";
  screen.add(
      style, Colour::kBold,
      padded(fmt::format("{:<20} {:>9} {:>7}", "outcome", "count", "share"), kOutcomes) + right);
  const size_t most = std::max(stats.labels.size(), both ? stats.stages.size() : 0);
  const size_t kept = kFailures + 2;
  const size_t room = screen.left() > kept ? screen.left() - kept : screen.left();
  for (size_t row = 0; row < std::min(most, room); ++row)
    screen.add(padded(outcome_row(stats, row), kOutcomes) + (both ? stage_row(stats, row) : ""));
}

void add_failures(const TopStats& stats, Screen& screen, const Style& style) {
  if (stats.failures.empty() || screen.left() < 2) return;
  screen.add("");
  screen.add(style, Colour::kBold, "last that did not end well");
  for (const TopStats::Failure& each : stats.failures) {
    screen.add(fmt::format("{}  {}  {}  {}", clock_of(each.time_ms), padded(safe(each.label), 20),
                           padded(safe(each.id), 16), safe(each.evidence)));
  }
}

const char* word_of(State state) {
  switch (state) {
    case State::kLost:
      return "lost";
    case State::kDraining:
      return "draining";
    case State::kHere:
      return "here";
  }
  return "";
}

std::string pilot_row(const TopPilots::Pilot& pilot) {
  return fmt::format("{} {:<8} {} {:>11} {:>7} {:>10} {:>8}", padded(safe(pilot.name), 20),
                     word_of(pilot.state), padded(safe(pilot.level), 9),
                     fmt::format("{}/{}", pilot.running, pilot.workers), grouped(pilot.waiting),
                     grouped(pilot.ended), short_time(pilot.mean_us));
}

// Half of the room that is left, and no more than there is to say.
void add_pilots(const TopPilots& cluster, Screen& screen, const Style& style) {
  screen.add(style, Colour::kBold,
             fmt::format("{:<20} {:<8} {:<9} {:>11} {:>7} {:>10} {:>8}", "pilot", "state", "level",
                         "run/workers", "wait", "done", "a job"));
  const size_t room = std::max<size_t>(screen.left() / 2, 1);
  const size_t all = cluster.pilots.size();
  const size_t shown = all <= room ? all : room - 1;
  for (size_t row = 0; row < shown; ++row) screen.add(pilot_row(cluster.pilots[row]));
  if (shown < all) screen.add(fmt::format("and {} more", all - shown));
  if (all == 0) screen.add("none");
  size_t left = kLosses;
  for (const TopPilots::Loss& each : cluster.losses) {
    if (left-- == 0) break;
    screen.add(style, Colour::kYellow,
               fmt::format("{}  lost {}  {} jobs, {}", clock_of(each.time_ms),
                           padded(safe(each.name), 20), each.jobs, safe(each.message)));
  }
  screen.add("");
}

void add_gauge(const TopPilots& cluster, Screen& screen) {
  screen.add(fmt::format("{:<{}}{} here, {} draining, {} silent; {} lost lately, {} jobs again",
                         "pilots", kLead, cluster.count(State::kHere),
                         cluster.count(State::kDraining), cluster.count(State::kLost),
                         cluster.losses.size(), grouped(cluster.restarts)));
}

}  // namespace

std::string short_time(int64_t us) {
  if (us <= 0) return "-";
  const auto value = static_cast<double>(us);
  if (us < 1000) return fmt::format("{} us", us);
  if (us < 10'000) return fmt::format("{:.2f} ms", value / 1e3);
  if (us < 1'000'000) return fmt::format("{:.0f} ms", value / 1e3);
  if (us < 100'000'000) return fmt::format("{:.2f} s", value / 1e6);
  return fmt::format("{:.0f} s", value / 1e6);
}

std::vector<std::string> top_screen(const TopStats& stats, const std::string& where,
                                    const std::string& trouble, ScreenSize size,
                                    const Style& style) {
  Screen screen{{}, size};
  const bool well = trouble.empty() && stats.state == "ready";
  screen.add(style, well ? Colour::kGreen : Colour::kYellow,
             fmt::format("zygo {}  {}  {}  level {}  up {}", safe(stats.version), safe(where),
                         trouble.empty() ? safe(stats.state) : safe(trouble), safe(stats.level),
                         up_time(stats.uptime_us)));
  screen.add("");
  add_gauges(stats, screen);
  if (stats.cluster) add_gauge(*stats.cluster, screen);
  screen.add("");
  if (stats.cluster) add_pilots(*stats.cluster, screen, style);
  add_tables(stats, screen, style);
  add_failures(stats, screen, style);
  return std::move(screen.lines);
}

std::string top_heading(const TopStats& first) {
  return fmt::format("{:>8} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>12}", "jobs/s", "ok/s",
                     "refused", "queued", "running", "p50", "p99", "jobs") +
         (first.cluster ? fmt::format(" {:>8} {:>8} {:>8}", "here", "draining", "lost") : "");
}

std::string top_line(const TopStats& stats) {
  const Second now = last_of(stats);
  return fmt::format("{:>8} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>12}", now.ended, now.ok,
                     now.refused, stats.queued, stats.running, short_time(now.p50),
                     short_time(now.p99), stats.total) +
         (stats.cluster ? fmt::format(" {:>8} {:>8} {:>8}", stats.cluster->count(State::kHere),
                                      stats.cluster->count(State::kDraining),
                                      stats.cluster->count(State::kLost))
                        : "");
}

}  // namespace cli
