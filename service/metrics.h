#pragma once
// Metrics: what the service has counted, as Prometheus text (exposition format 0.0.4). Pure values
// and formatting; labels may come from programs, so their length and number are bounded.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/result.h"

namespace service {

struct Gauges {
  size_t queued = 0, most_queued = 0, running = 0, workers = 0, connections = 0;
  size_t held_bytes = 0, most_held_bytes = 0;
};

class Metrics {
 public:
  static constexpr size_t kMostSeries = 500;  // of labels and templates; the rest is "(other)"
  static constexpr size_t kLongestLabel = 80;

  void job_ended(std::string_view label, std::string_view template_name,
                 const runtime::Timing* timing);  // none: it never ran
  void answered(int status) { ++answers_[status]; }
  std::string text(const Gauges& gauges) const;

 private:
  // Upper bounds in microseconds; the last bucket has none.
  static constexpr std::array<int64_t, 12> kBounds{
      50, 100, 250, 500, 1'000, 2'500, 10'000, 50'000, 250'000, 1'000'000, 5'000'000, 30'000'000};
  struct Histogram {
    std::array<uint64_t, kBounds.size() + 1> counts{};
    int64_t sum_us = 0;
    void add(int64_t us);
  };
  static constexpr size_t kStages = 7;

  std::map<std::pair<std::string, std::string>, uint64_t> jobs_;
  std::map<int, uint64_t> answers_;
  std::array<Histogram, kStages> stages_;
};

}  // namespace service
