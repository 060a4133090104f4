#include "service/observe/history.h"

#include <algorithm>
#include <utility>

namespace service {

namespace {

// The quantile of values that may be put into another order.
int64_t quantile(std::vector<int64_t>& values, unsigned percent) {
  if (values.empty()) return 0;
  const size_t rank = (values.size() - 1) * percent / 100;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

const std::array<const char*, History::kStages>& History::stage_names() {
  static constexpr std::array<const char*, kStages> kNames{"lease",   "fork",  "confine", "run",
                                                           "collect", "judge", "queue",   "total"};
  return kNames;
}

void History::close_second() {
  current_.p50_us = quantile(totals_, 50);
  current_.p99_us = quantile(totals_, 99);
  past_.push_back(std::exchange(current_, {}));
  if (past_.size() > kSeconds) past_.pop_front();
  totals_.clear();
  current_.queued = queued_;
  current_.running = running_;
}

// The seconds of which nobody has told anything were quiet.
void History::advance(sys::Nanoseconds now) {
  const int64_t second = now.count() / 1'000'000'000;
  if (second_ < 0) second_ = second;
  const int64_t skipped = second - second_ - static_cast<int64_t>(kSeconds) - 1;
  if (skipped > 0) second_ += skipped;
  for (; second_ < second; ++second_) close_second();
}

void History::job_ended(sys::Nanoseconds now, bool ok, int64_t total_us) {
  advance(now);
  ++current_.ended;
  if (ok) ++current_.ok;
  if (totals_.size() < kPerSecond) totals_.push_back(total_us);
}

void History::job_times(const Times& times) {
  times_.push_back(times);
  if (times_.size() > kRecent) times_.pop_front();
}

void History::job_failed(std::string note) {
  failures_.push_front(std::move(note));
  if (failures_.size() > kFailures) failures_.pop_back();
}

void History::job_refused(sys::Nanoseconds now) {
  advance(now);
  ++current_.refused;
}

void History::standing(sys::Nanoseconds now, size_t queued, size_t running) {
  advance(now);
  queued_ = queued;
  running_ = running;
  current_.queued = std::max(current_.queued, queued);
  current_.running = std::max(current_.running, running);
}

std::vector<History::Second> History::seconds(sys::Nanoseconds now) {
  advance(now);
  return {past_.begin(), past_.end()};
}

std::array<History::Quantiles, History::kStages> History::quantiles() const {
  std::array<Quantiles, kStages> all;
  std::vector<int64_t> values;
  for (size_t stage = 0; stage < kStages; ++stage) {
    values.clear();
    for (const Times& times : times_) values.push_back(times[stage]);
    all[stage] = {quantile(values, 50), quantile(values, 90), quantile(values, 99)};
  }
  return all;
}

}  // namespace service
