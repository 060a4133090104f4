#pragma once
// History: the last minutes as one sample a second, the times of the last jobs at each station, and
// the last failures. Pure: the caller passes the time of each event. Bounded.

#include <array>
#include <deque>
#include <string>
#include <vector>

#include "sandbox/sys/units.h"

namespace service {

class History {
 public:
  static constexpr size_t kSeconds = 300, kFailures = 50;
  static constexpr size_t kRecent = 1000;       // jobs whose times are remembered one by one
  static constexpr size_t kPerSecond = 10'000;  // of a second's jobs, so many make its quantiles

  // The stations of a job, whose times are kept. The last two are sums: all before `run`, and all
  // there is.
  enum Stage { kLease, kFork, kConfine, kRun, kCollect, kJudge, kQueue, kTotal, kStages };
  static const std::array<const char*, kStages>& stage_names();
  using Times = std::array<int64_t, kStages>;  // microseconds

  struct Second {
    uint32_t ended = 0, ok = 0, refused = 0;
    size_t queued = 0, running = 0;  // the most of them
    int64_t p50_us = 0, p99_us = 0;  // from acceptance to the end; 0 when no job ended
  };
  struct Quantiles {
    int64_t p50 = 0, p90 = 0, p99 = 0;
  };

  void job_ended(sys::Nanoseconds now, bool ok, int64_t total_us);
  void job_times(const Times& times);  // of one that ran
  void job_failed(std::string note);   // JSON
  void job_refused(sys::Nanoseconds now);
  void standing(sys::Nanoseconds now, size_t queued, size_t running);

  std::vector<Second> seconds(sys::Nanoseconds now);  // those that are over, oldest first
  std::array<Quantiles, kStages> quantiles() const;   // of the last jobs
  size_t recent() const { return times_.size(); }
  const std::deque<std::string>& failures() const { return failures_; }  // newest first

 private:
  void advance(sys::Nanoseconds now);
  void close_second();

  int64_t second_ = -1;  // that `current_` is of, by the monotonic clock
  size_t queued_ = 0, running_ = 0;
  Second current_;
  std::vector<int64_t> totals_;  // of the jobs of this second
  std::deque<Second> past_;
  std::deque<Times> times_;
  std::deque<std::string> failures_;
};

}  // namespace service
