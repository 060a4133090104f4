#include "service/observe/observer.h"

#include <fmt/format.h>

#include <ctime>

#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"
#include "service/observe/stats.h"

namespace service {

namespace {

constexpr size_t kLongestName = 80;

std::string as_json(std::string_view text) {
  std::string out;
  runtime::append_json_string(runtime::utf8_head(text, kLongestName), out);
  return out;
}

// As an object: who sent it and when it ended, and failure_note().
std::string failure_of(const Finished& job) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return fmt::format(R"({{"time_ms":{},"id":{},"client":{},"api":"{}","template":{},{}}})",
                     int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000, as_json(job.id),
                     as_json(job.client), job.api, as_json(job.template_name), job.failure);
}

History::Times times_of(const Finished& job) {
  const runtime::Timing& t = job.timing;
  History::Times times{};
  times[History::kLease] = t.lease;
  times[History::kFork] = t.fork;
  times[History::kConfine] = t.confine;
  times[History::kRun] = t.run;
  times[History::kCollect] = t.collect;
  times[History::kJudge] = t.judge;
  times[History::kQueue] = job.queued_us + t.admit;
  times[History::kTotal] = job.total_us;
  return times;
}

}  // namespace

void Observer::job_ended(const Finished& job) {
  metrics_.job_ended({.label = job.label,
                      .template_name = job.template_name,
                      .api = job.api,
                      .timing = job.ran ? &job.timing : nullptr,
                      .queued_us = job.queued_us,
                      .total_us = job.total_us,
                      .cpu_us = job.cpu_us});
  history_.job_ended(sys::monotonic_now(), job.failure.empty(), job.total_us);
  if (job.ran) history_.job_times(times_of(job));
  if (!job.failure.empty()) history_.job_failed(failure_of(job));
}

void Observer::answered(int status, size_t queued, size_t running) {
  constexpr int kBusy = 429;
  const sys::Nanoseconds now = sys::monotonic_now();
  metrics_.answered(status);
  if (status == kBusy) history_.job_refused(now);
  history_.standing(now, queued, running);
}

std::string Observer::stats_json(std::string version, std::string level, std::string state) {
  const sys::Nanoseconds now = sys::monotonic_now();
  Standing standing{.version = std::move(version),
                    .level = std::move(level),
                    .state = std::move(state),
                    .gauges = gauges_(),
                    .seconds = {}};
  history_.standing(now, standing.gauges.queued, standing.gauges.running);
  standing.seconds = history_.seconds(now);
  return service::stats_json(standing, metrics_, history_);
}

}  // namespace service
