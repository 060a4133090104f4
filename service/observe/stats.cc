#include "service/observe/stats.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace service {

namespace {

using nlohmann::ordered_json;

constexpr size_t kMostLabels = 24;  // told one by one; the rest is "(other)"

ordered_json jobs_of(const Metrics& metrics) {
  const auto counts = metrics.jobs_by_label();
  std::vector<std::pair<uint64_t, std::string>> order;
  uint64_t total = 0, rest = 0;
  for (const auto& [label, count] : counts) {
    order.emplace_back(count, label);
    total += count;
  }
  std::sort(order.rbegin(), order.rend());
  ordered_json labels = ordered_json::array();
  for (const auto& [count, label] : order) {
    if (labels.size() < kMostLabels) {
      labels.push_back({{"label", label}, {"count", count}});
    } else {
      rest += count;
    }
  }
  if (rest > 0) labels.push_back({{"label", "(other)"}, {"count", rest}});
  const auto ok = counts.find("OK");
  return {{"total", total}, {"ok", ok == counts.end() ? 0 : ok->second}, {"labels", labels}};
}

ordered_json now_of(const Gauges& now) {
  return {{"queued", now.queued},
          {"queue_limit", now.most_queued},
          {"running", now.running},
          {"workers", now.workers},
          {"cells", now.engine.cells},
          {"templates", now.engine.templates},
          {"connections", now.connections},
          {"held_bytes", now.held_bytes},
          {"held_limit_bytes", now.most_held_bytes},
          {"resident_bytes", now.resources.resident_bytes}};
}

ordered_json since_start_of(const Gauges& now, const Metrics& metrics) {
  ordered_json answers = ordered_json::object();
  for (const auto& [status, count] : metrics.answers()) answers[std::to_string(status)] = count;
  return {{"forks", now.engine.forks},
          {"cells_made", now.engine.cells_made},
          {"rollback_failures", now.engine.rollback_failures},
          {"job_cpu_us", metrics.cpu_us()},
          {"own_cpu_us", now.resources.cpu_us},
          {"answers", answers}};
}

ordered_json stages_of(const History& history) {
  const auto quantiles = history.quantiles();
  ordered_json stages = ordered_json::array();
  for (size_t i = 0; i < quantiles.size(); ++i)
    stages.push_back({{"stage", History::stage_names()[i]},
                      {"p50_us", quantiles[i].p50},
                      {"p90_us", quantiles[i].p90},
                      {"p99_us", quantiles[i].p99}});
  return stages;
}

template <typename T>
ordered_json column(const std::vector<History::Second>& seconds, T History::Second::*member) {
  ordered_json values = ordered_json::array();
  for (const History::Second& second : seconds) values.push_back(second.*member);
  return values;
}

ordered_json history_of(const std::vector<History::Second>& seconds) {
  using Second = History::Second;
  return {{"step_s", 1},
          {"most", History::kSeconds},
          {"ended", column(seconds, &Second::ended)},
          {"ok", column(seconds, &Second::ok)},
          {"refused", column(seconds, &Second::refused)},
          {"queued", column(seconds, &Second::queued)},
          {"running", column(seconds, &Second::running)},
          {"p50_us", column(seconds, &Second::p50_us)},
          {"p99_us", column(seconds, &Second::p99_us)}};
}

}  // namespace

std::string stats_json(const Standing& standing, const Metrics& metrics, const History& history) {
  ordered_json failures = ordered_json::array();
  for (const std::string& note : history.failures()) {
    ordered_json failure = ordered_json::parse(note, nullptr, false);
    if (!failure.is_discarded()) failures.push_back(std::move(failure));
  }
  const ordered_json all = {{"version", standing.version},
                            {"level", standing.level},
                            {"state", standing.state},
                            {"uptime_us", standing.gauges.resources.uptime_us},
                            {"now", now_of(standing.gauges)},
                            {"jobs", jobs_of(metrics)},
                            {"since_start", since_start_of(standing.gauges, metrics)},
                            {"recent", history.recent()},
                            {"stages", stages_of(history)},
                            {"history", history_of(standing.seconds)},
                            {"failures", failures}};
  return all.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace service
