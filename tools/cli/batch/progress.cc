#include "tools/cli/batch/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sandbox/sys/file.h"

namespace cli {
namespace {

constexpr sys::Milliseconds kRedraw{200}, kLineEvery{5000};
constexpr sys::Nanoseconds kLeastRateWindow = std::chrono::seconds(10);
constexpr size_t kBarCells = 24;
constexpr size_t kShownLabels = 6;

double seconds_of(sys::Nanoseconds time) { return static_cast<double>(time.count()) / 1e9; }

double share_of(size_t part, size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

int percent_of(const Glance& glance) {
  double share = glance.total ? share_of(std::min(glance.done, *glance.total), *glance.total) : 0;
  return static_cast<int>(share * 100);
}

std::string format_rate(double rate) {
  return rate < 10 ? fmt::format("{:.1f}/s", rate) : fmt::format("{:.0f}/s", rate);
}

std::string eta_of(const Glance& glance) {
  if (!glance.total || glance.rate <= 0 || glance.done > *glance.total) return {};
  return format_clock(static_cast<double>(*glance.total - glance.done) / glance.rate);
}

std::string count_of(const Glance& glance) {
  return glance.total ? fmt::format("{}/{}", glance.done, *glance.total)
                      : fmt::format("{} done", glance.done);
}

std::string labels_of(const Tally& tally, std::string_view between) {
  std::string text;
  size_t shown = 0;
  for (const auto& [label, count] : tally.sorted()) {
    if (shown++ == kShownLabels) return text + std::string(between) + "…";
    text += fmt::format("{}{} {}", text.empty() ? "" : between, label, count);
  }
  return text;
}

std::string drawn_bar(const Glance& glance) {
  if (!glance.total) return {};
  double share = share_of(std::min(glance.done, *glance.total), *glance.total);
  auto full = static_cast<size_t>(share * kBarCells);
  std::string bar(full, '=');
  if (full < kBarCells) bar += '>';
  bar.resize(kBarCells, ' ');
  return fmt::format("[{}] ", bar);
}

}  // namespace

std::string format_clock(double seconds) {
  auto whole = static_cast<long>(std::clamp(seconds, 0.0, 359999.0) + 0.5);
  long hours = whole / 3600, minutes = whole / 60 % 60, rest = whole % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, rest)
                   : fmt::format("{}:{:02}", minutes, rest);
}

std::string progress_bar(const Glance& glance, const Tally& tally, size_t width) {
  std::string text = drawn_bar(glance) + count_of(glance);
  if (glance.total) text += fmt::format("  {} %", percent_of(glance));
  text += "  " + format_rate(glance.rate);
  std::string eta = eta_of(glance);
  if (!eta.empty()) text += "  ETA " + eta;
  std::string labels = labels_of(tally, "  ");
  if (!labels.empty()) text += "  " + labels;
  return clip(text, width);
}

std::string progress_line(const Glance& glance, const Tally& tally) {
  std::string text = count_of(glance);
  if (glance.total) text += fmt::format(" ({} %)", percent_of(glance));
  text += ", " + format_rate(glance.rate);
  std::string eta = eta_of(glance);
  if (!eta.empty()) text += ", ETA " + eta;
  std::string labels = labels_of(tally, ", ");
  return labels.empty() ? text : text + ": " + labels;
}

std::string outcome_table(const Tally& tally, double seconds, const Style& style) {
  auto rows = tally.sorted();
  size_t widest = 7;
  for (const auto& row : rows) widest = std::max(widest, columns_of(row.first));
  auto pad = [widest](std::string_view text) {
    return std::string(text) + std::string(widest - columns_of(text), ' ');
  };
  std::string text =
      style.paint(Colour::kBold, fmt::format("{}  {:>9}  {:>7}", pad("outcome"), "count", "share"));
  for (const auto& [label, count] : rows) {
    text += fmt::format("\n{}  {:>9}  {:>5.1f} %",
                        style.paint(label == "OK" ? Colour::kGreen : Colour::kNone, pad(label)),
                        count, 100 * share_of(count, tally.total()));
  }
  size_t fresh = tally.total() - tally.earlier();
  double rate = seconds > 0 ? static_cast<double>(fresh) / seconds : 0;
  text += fmt::format("\n{} jobs in {:.1f} s, {}", fresh, seconds, format_rate(rate));
  if (tally.earlier() > 0) text += fmt::format("; {} more were there already", tally.earlier());
  return text;
}

std::string outcome_json(const Tally& tally, double seconds) {
  nlohmann::ordered_json outcomes = nlohmann::ordered_json::object();
  for (const auto& [label, count] : tally.sorted()) outcomes[label] = count;
  size_t fresh = tally.total() - tally.earlier();
  nlohmann::ordered_json summary = {
      {"jobs", fresh},
      {"earlier", tally.earlier()},
      {"seconds", seconds},
      {"rate", seconds > 0 ? static_cast<double>(fresh) / seconds : 0},
      {"outcomes", outcomes}};
  return summary.dump();
}

std::optional<sys::Milliseconds> Progress::period() const {
  switch (kind_) {
    case Kind::kNone:
      return std::nullopt;
    case Kind::kLines:
      return sys::Milliseconds(1000);
    case Kind::kBar:
      return kRedraw;
  }
  return std::nullopt;
}

// Lines start after a first interval, so that a short batch prints its table only.
bool Progress::due(sys::Nanoseconds now) const {
  if (kind_ == Kind::kNone) return false;
  return !last_ || now - *last_ >= (kind_ == Kind::kBar ? kRedraw : kLineEvery);
}

// Jobs differ, so what is to come is foretold by no less than half of what was.
double Progress::rate_at(sys::Nanoseconds now, size_t done) {
  samples_.emplace_back(now, done);
  if (!began_) began_ = now;
  const sys::Nanoseconds window = std::max(kLeastRateWindow, (now - *began_) / 2);
  while (samples_.size() > 2 && now - samples_[1].first >= window) samples_.pop_front();
  double span = seconds_of(now - samples_.front().first);
  return span <= 0 ? 0 : static_cast<double>(done - samples_.front().second) / span;
}

void Progress::tick(sys::Nanoseconds now, const Tally& tally) {
  if (!due(now)) return;
  bool first = !last_.has_value();
  last_ = now;
  Glance glance{tally.total(), total_, rate_at(now, tally.total())};
  if (kind_ == Kind::kLines) {
    if (!first)
      static_cast<void>(
          sys::write_all(fd_, who_ + ": " + progress_line(glance, tally) + "\n").ok());
    return;
  }
  std::string bar = progress_bar(glance, tally, terminal_width(fd_) - 1);
  drawn_ = sys::write_all(fd_, "\r" + bar + "\x1b[K").ok();
}

void Progress::clear() {
  if (std::exchange(drawn_, false)) static_cast<void>(sys::write_all(fd_, "\r\x1b[K").ok());
}

}  // namespace cli
