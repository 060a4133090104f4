#include "service/metrics.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/utf8.h"

namespace service {

namespace {

constexpr std::array<const char*, 7> kStageNames{"admit", "lease",   "fork", "confine",
                                                 "run",   "collect", "judge"};

std::array<int64_t, 7> stages_of(const runtime::Timing& t) {
  return {t.admit, t.lease, t.fork, t.confine, t.run, t.collect, t.judge};
}

// As a label's value: in UTF-8, without what would end it.
std::string escaped(std::string_view text) {
  std::string safe;
  for (char c : runtime::repaired_utf8(text)) {
    if (c == '\\' || c == '"') safe += '\\';
    if (c == '\n') {
      safe += "\\n";
    } else {
      safe += c;
    }
  }
  return safe;
}

void describe(std::string& out, const char* name, const char* type, const char* help) {
  out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void gauge(std::string& out, const char* name, const char* help, size_t value) {
  describe(out, name, "gauge", help);
  out += fmt::format("{} {}\n", name, value);
}

}  // namespace

void Metrics::Histogram::add(int64_t us) {
  const auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), us);
  ++counts[static_cast<size_t>(bound - kBounds.begin())];
  sum_us += us;
}

void Metrics::job_ended(std::string_view label, std::string_view template_name,
                        const runtime::Timing* timing) {
  std::pair<std::string, std::string> key(runtime::utf8_head(label, kLongestLabel),
                                          runtime::utf8_head(template_name, kLongestLabel));
  if (!jobs_.contains(key) && jobs_.size() >= kMostSeries) key = {"(other)", "(other)"};
  ++jobs_[std::move(key)];
  if (!timing) return;
  const auto values = stages_of(*timing);
  for (size_t i = 0; i < kStages; ++i) stages_[i].add(values[i]);
}

std::string Metrics::text(const Gauges& now) const {
  std::string out;
  describe(out, "zygo_jobs_total", "counter", "Jobs that have ended, by label and template.");
  for (const auto& [key, count] : jobs_)
    out += fmt::format("zygo_jobs_total{{label=\"{}\",template=\"{}\"}} {}\n", escaped(key.first),
                       escaped(key.second), count);
  describe(out, "zygo_http_responses_total", "counter", "Answers, by status; 0: the client left.");
  for (const auto& [status, count] : answers_)
    out += fmt::format("zygo_http_responses_total{{status=\"{}\"}} {}\n", status, count);
  gauge(out, "zygo_queue_jobs", "Jobs that wait.", now.queued);
  gauge(out, "zygo_queue_limit", "Jobs that may wait.", now.most_queued);
  gauge(out, "zygo_engine_jobs", "Jobs that run or are about to.", now.running);
  gauge(out, "zygo_cells", "Cells that may run a job at once.", now.workers);
  gauge(out, "zygo_connections", "Open connections.", now.connections);
  gauge(out, "zygo_held_bytes", "Bytes of requests and unfetched results.", now.held_bytes);
  gauge(out, "zygo_held_bytes_limit", "The most of them.", now.most_held_bytes);
  describe(out, "zygo_stage_seconds", "histogram", "Time of a job at each station.");
  for (size_t i = 0; i < kStages; ++i) {
    uint64_t below = 0;
    for (size_t bucket = 0; bucket <= kBounds.size(); ++bucket) {
      below += stages_[i].counts[bucket];
      const std::string bound =
          bucket == kBounds.size()
              ? "+Inf"
              : fmt::format("{:g}", static_cast<double>(kBounds[bucket]) / 1e6);
      out += fmt::format("zygo_stage_seconds_bucket{{stage=\"{}\",le=\"{}\"}} {}\n", kStageNames[i],
                         bound, below);
    }
    out += fmt::format("zygo_stage_seconds_sum{{stage=\"{}\"}} {:.6f}\n", kStageNames[i],
                       static_cast<double>(stages_[i].sum_us) / 1e6);
    out += fmt::format("zygo_stage_seconds_count{{stage=\"{}\"}} {}\n", kStageNames[i], below);
  }
  return out;
}

}  // namespace service
