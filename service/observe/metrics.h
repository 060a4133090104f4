#pragma once
// Metrics: the counters of the service as Prometheus text (exposition format 0.0.4). Pure values
// and formatting; labels may come from programs, so their length and number are bounded.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/engine/engine.h"
#include "runtime/job/result.h"
#include "service/observe/resources.h"

namespace service {

struct Gauges {
  size_t queued = 0, most_queued = 0, running = 0, workers = 0, connections = 0;
  sys::Milliseconds estimated_wait{0};  // until a job that comes now would start
  size_t held_bytes = 0, most_held_bytes = 0;
  size_t durable_waiting = 0, durable_unwritten = 0;
  size_t sessions = 0, session_steps = 0, session_bytes = 0;  // of their logs
  runtime::Engine::Counts engine = {};
  Resources resources = {};
};

// A job that has ended, whether it ran or not.
struct JobEnd {
  std::string_view label, template_name, api;
  const runtime::Timing* timing = nullptr;  // none: it never ran
  int64_t queued_us = 0;                    // before the engine had it
  int64_t total_us = 0;                     // from admission to the result
  int64_t cpu_us = 0;                       // of the program
};

// The lines that come before a metric's own. `type`: "gauge" or "counter".
void describe_metric(std::string& out, const char* name, const char* type, const char* help);

class Metrics {
 public:
  static constexpr size_t kMostSeries = 500;  // of jobs; the rest is "(other)"
  static constexpr size_t kLongestLabel = 80;

  void job_ended(const JobEnd& job);
  void answered(int status) { ++answers_[status]; }
  std::string text(const Gauges& gauges) const;
  const std::map<int, uint64_t>& answers() const { return answers_; }
  std::map<std::string, uint64_t> jobs_by_label() const;
  int64_t cpu_us() const { return cpu_us_; }  // of all programs

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
  static void append_histogram(std::string& out, const std::string& name, const std::string& labels,
                               const Histogram& histogram);

  std::map<std::array<std::string, 3>, uint64_t> jobs_;  // by label, template, API
  std::map<int, uint64_t> answers_;
  std::array<Histogram, kStages> stages_;
  Histogram queued_, totals_;
  int64_t cpu_us_ = 0;
};

}  // namespace service
