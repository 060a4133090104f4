#include "tools/cli/image/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sandbox/sys/file.h"
#include "tools/cli/batch/progress.h"
#include "tools/cli/text.h"
#include "tools/cli/units.h"

namespace cli {
namespace {

constexpr sys::Milliseconds kRedraw{200}, kLineEvery{5000};
constexpr size_t kBarCells = 24;

// Bytes beyond the total are possible: a file may grow while it is read.
double share_of(const images::Milestone& now) {
  if (now.total == 0) return 0;
  return static_cast<double>(std::min(now.done, now.total)) / static_cast<double>(now.total);
}

std::string amount_of(const images::Milestone& now) {
  return now.total == 0 ? format_size(now.done)
                        : fmt::format("{} of {}", format_size(now.done), format_size(now.total));
}

}  // namespace

std::string import_bar(const images::Milestone& now, double rate, size_t width) {
  std::string text;
  if (now.total > 0) {
    std::string cells(static_cast<size_t>(share_of(now) * kBarCells), '=');
    if (cells.size() < kBarCells) cells += '>';
    cells.resize(kBarCells, ' ');
    text = fmt::format("[{}] ", cells);
  }
  text += fmt::format("{}  {}", now.work, amount_of(now));
  if (now.total > 0) text += fmt::format("  {} %", static_cast<int>(share_of(now) * 100));
  if (rate > 0) text += fmt::format("  {}/s", format_size(static_cast<uint64_t>(rate)));
  if (rate > 0 && now.total > now.done)
    text += "  ETA " + format_clock(static_cast<double>(now.total - now.done) / rate);
  return clip(text, width);
}

std::string import_line(const images::Milestone& now) {
  std::string text = fmt::format("{} {}", now.work, amount_of(now));
  if (now.total > 0) text += fmt::format(" ({} %)", static_cast<int>(share_of(now) * 100));
  return text;
}

// Lines start after a first interval, so that a short import says nothing but how it ended.
void ImportProgress::tick(sys::Nanoseconds now, const images::Milestone& milestone) {
  if (kind_ == Kind::kNone) return;
  if (!work_began_ || work_ != milestone.work) {
    work_ = milestone.work;
    work_began_ = now;
  }
  if (!last_) last_ = now;
  if (now - *last_ < (kind_ == Kind::kBar ? kRedraw : kLineEvery)) return;
  last_ = now;
  if (kind_ == Kind::kLines) {
    const std::string line = who_ + ": " + import_line(milestone) + "\n";
    static_cast<void>(sys::write_all(fd_, line).ok());
    return;
  }
  const double seconds = static_cast<double>((now - *work_began_).count()) / 1e9;
  const double rate = seconds > 0 ? static_cast<double>(milestone.done) / seconds : 0;
  const std::string bar = import_bar(milestone, rate, terminal_width(fd_) - 1);
  drawn_ = sys::write_all(fd_, "\r" + bar + "\x1b[K").ok();
}

void ImportProgress::clear() {
  if (std::exchange(drawn_, false)) static_cast<void>(sys::write_all(fd_, "\r\x1b[K").ok());
}

ImportProgress progress_for(const CommonOptions& common, std::string_view who) {
  using Kind = ImportProgress::Kind;
  const Kind kind = common.quiet                 ? Kind::kNone
                    : is_terminal(STDERR_FILENO) ? Kind::kBar
                                                 : Kind::kLines;
  return {kind, STDERR_FILENO, who};
}

images::Watch watch_of(ImportProgress& progress, const StopSignals* stop) {
  return [&progress, stop](const images::Milestone& milestone) {
    if (stop && stop->came()) return images::Wish::kStop;
    progress.tick(sys::monotonic_now(), milestone);
    return images::Wish::kGoOn;
  };
}

}  // namespace cli
