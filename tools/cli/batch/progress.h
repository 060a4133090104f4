#pragma once
// The progress of a batch, or of jobs that are run like one, on stderr: a bar on a terminal, a line
// every few seconds elsewhere, and the table of outcomes at the end. The formatting is pure;
// Progress decides when, with time as an argument.

#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "sandbox/sys/units.h"
#include "tools/cli/batch/tally.h"
#include "tools/cli/text.h"

namespace cli {

struct Glance {
  size_t done = 0;
  std::optional<size_t> total;  // none: the input is a pipe
  double rate = 0;              // results a second, of the later half of the time, or of 10 s
};

std::string format_clock(double seconds);  // "0:07", "12:05", "3:00:00"
// "[=====>    ] 1200/3200  37 %  1650/s  ETA 0:01  OK 1100  TimeoutException 100", at most `width`.
std::string progress_bar(const Glance& glance, const Tally& tally, size_t width);
// "1200/3200 (37 %), 1650/s, ETA 0:01: OK 1100, TimeoutException 100"
std::string progress_line(const Glance& glance, const Tally& tally);
std::string outcome_table(const Tally& tally, double seconds, const Style& style);
std::string outcome_json(const Tally& tally, double seconds);

class Progress {
 public:
  enum class Kind { kNone, kLines, kBar };
  // `who` begins each line.
  Progress(Kind kind, int fd, std::optional<size_t> total, std::string who = "zygo batch")
      : kind_(kind), fd_(fd), total_(total), who_(std::move(who)) {}

  std::optional<sys::Milliseconds> period() const;  // how often tick() wants to be called
  void tick(sys::Nanoseconds now, const Tally& tally);
  bool due(sys::Nanoseconds now) const;
  void clear();  // takes the bar away

 private:
  double rate_at(sys::Nanoseconds now, size_t done);

  Kind kind_;
  int fd_;
  std::optional<size_t> total_;
  std::string who_;
  std::optional<sys::Nanoseconds> began_, last_;
  std::deque<std::pair<sys::Nanoseconds, size_t>> samples_;  // of what the rate is taken from
  bool drawn_ = false;
};

}  // namespace cli
