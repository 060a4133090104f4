#include "service/observe/metrics.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"

namespace service {

namespace {

constexpr std::array<const char*, 7> kStageNames{"admit", "lease",   "fork", "confine",
                                                 "run",   "collect", "judge"};

std::array<int64_t, 7> stages_of(const runtime::Timing& t) {
  return {t.admit, t.lease, t.fork, t.confine, t.run, t.collect, t.judge};
}

// The text in UTF-8, with U+FFFD for each character that a terminal would obey instead of showing
// it. Series are counted by this text: two names that look the same must not become two lines.
std::string visible(std::string_view text) {
  const std::string whole = runtime::repaired_utf8(text);
  std::string safe;
  for (std::string_view rest = whole; !rest.empty();) {
    const size_t unseen = rest[0] == '\n' ? 0 : runtime::unseen_length(rest);
    safe += unseen > 0 ? runtime::kReplacementCharacter : rest.substr(0, 1);
    rest.remove_prefix(std::max<size_t>(unseen, 1));
  }
  return safe;
}

// The text as a label's value: without what would end it.
std::string escaped(std::string_view text) {
  std::string safe;
  for (char c : text) {
    if (c == '\\' || c == '"') safe += '\\';
    if (c == '\n') {
      safe += "\\n";
    } else {
      safe += c;
    }
  }
  return safe;
}

void gauge(std::string& out, const char* name, const char* help, size_t value) {
  describe_metric(out, name, "gauge", help);
  out += fmt::format("{} {}\n", name, value);
}

void counter(std::string& out, const char* name, const char* help, double value) {
  describe_metric(out, name, "counter", help);
  out += fmt::format("{} {}\n", name, value);
}

void append_resources(std::string& out, const Gauges& now, int64_t cpu_of_jobs) {
  const runtime::Engine::Counts& engine = now.engine;
  gauge(out, "zygo_cells_alive", "Cells there are, idle ones included.", engine.cells);
  gauge(out, "zygo_templates_alive", "Warm interpreters there are.", engine.templates);
  gauge(out, "zygo_tenant_templates_alive", "Of them, those that serve one tenant only.",
        engine.tenant_templates);
  counter(out, "zygo_tenant_templates_dropped_total",
          "Idle templates of tenants that went, to make room or by their age.",
          static_cast<double>(engine.tenant_templates_dropped));
  counter(out, "zygo_cells_made_total", "Cells made.", static_cast<double>(engine.cells_made));
  counter(out, "zygo_forks_total", "Runs of programs.", static_cast<double>(engine.forks));
  counter(out, "zygo_steps_gone_on_total",
          "Of them, steps that went on in the process of the one before, and forked none.",
          static_cast<double>(engine.sessions.gone_on));
  counter(out, "zygo_steps_stood_by_total",
          "Of them, steps in a process that stood by at their node.",
          static_cast<double>(engine.sessions.stood_by));
  counter(out, "zygo_standbys_made_total",
          "Processes that were put to a node before a step asked for one there.",
          static_cast<double>(engine.sessions.standbys));
  gauge(out, "zygo_sessions", "Sessions that have begun and not ended.", now.sessions);
  gauge(out, "zygo_session_steps", "Steps in their logs.", now.session_steps);
  gauge(out, "zygo_session_steps_bytes", "Memory that their logs take.", now.session_bytes);
  gauge(out, "zygo_nodes", "Nodes of sessions that are kept.", engine.sessions.nodes);
  gauge(out, "zygo_nodes_bytes", "Memory that they take.", engine.sessions.bytes);
  gauge(out, "zygo_nodes_on_disk", "Of them, those that are on the disk (--nodes-disk).",
        engine.sessions.on_disk);
  gauge(out, "zygo_nodes_disk_bytes", "What these take there.", engine.sessions.disk_bytes);
  gauge(out, "zygo_steps_waiting", "Steps that wait until the memory for nodes has room.",
        engine.sessions.waiting);
  counter(out, "zygo_nodes_dropped_total", "Nodes that went, for want of memory or by their age.",
          static_cast<double>(engine.sessions.dropped));
  counter(out, "zygo_rollback_failures_total",
          "Times that memory which jobs borrow could not be brought back.",
          static_cast<double>(engine.rollback_failures));
  counter(out, "zygo_job_cpu_seconds_total", "CPU time of all programs.",
          static_cast<double>(cpu_of_jobs) / 1e6);
  const Resources& own = now.resources;
  gauge(out, "process_resident_memory_bytes", "Of the service itself.", own.resident_bytes);
  gauge(out, "process_open_fds", "Of the service itself; 0: not told.", own.open_descriptors);
  counter(out, "process_cpu_seconds_total", "Of the service itself.",
          static_cast<double>(own.cpu_us) / 1e6);
  gauge(out, "process_start_time_seconds", "Since 1970.", static_cast<size_t>(own.started_s));
}

}  // namespace

void describe_metric(std::string& out, const char* name, const char* type, const char* help) {
  out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void Metrics::Histogram::add(int64_t us) {
  const auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), us);
  ++counts[static_cast<size_t>(bound - kBounds.begin())];
  sum_us += us;
}

void Metrics::job_ended(const JobEnd& job) {
  std::array<std::string, 3> key{visible(runtime::utf8_head(job.label, kLongestLabel)),
                                 visible(runtime::utf8_head(job.template_name, kLongestLabel)),
                                 std::string(job.api)};
  if (!jobs_.contains(key) && jobs_.size() >= kMostSeries) key = {"(other)", "(other)", "(other)"};
  ++jobs_[std::move(key)];
  totals_.add(job.total_us);
  cpu_us_ += job.cpu_us;
  if (!job.timing) return;
  queued_.add(job.queued_us);
  const auto values = stages_of(*job.timing);
  for (size_t i = 0; i < kStages; ++i) stages_[i].add(values[i]);
}

std::map<std::string, uint64_t> Metrics::jobs_by_label() const {
  std::map<std::string, uint64_t> all;
  for (const auto& [key, count] : jobs_) all[key[0]] += count;
  return all;
}

void Metrics::append_histogram(std::string& out, const std::string& name, const std::string& labels,
                               const Histogram& histogram) {
  const std::string more = labels.empty() ? "" : labels + ",";
  const std::string whole = labels.empty() ? "" : "{" + labels + "}";
  uint64_t below = 0;
  for (size_t bucket = 0; bucket <= kBounds.size(); ++bucket) {
    below += histogram.counts[bucket];
    const std::string bound = bucket == kBounds.size()
                                  ? "+Inf"
                                  : fmt::format("{:g}", static_cast<double>(kBounds[bucket]) / 1e6);
    out += fmt::format("{}_bucket{{{}le=\"{}\"}} {}\n", name, more, bound, below);
  }
  out += fmt::format("{}_sum{} {:.6f}\n", name, whole, static_cast<double>(histogram.sum_us) / 1e6);
  out += fmt::format("{}_count{} {}\n", name, whole, below);
}

std::string Metrics::text(const Gauges& now) const {
  std::string out;
  describe_metric(out, "zygo_jobs_total", "counter",
                  "Jobs that have ended, by label, template and API.");
  for (const auto& [key, count] : jobs_)
    out += fmt::format("zygo_jobs_total{{label=\"{}\",template=\"{}\",api=\"{}\"}} {}\n",
                       escaped(key[0]), escaped(key[1]), escaped(key[2]), count);
  describe_metric(out, "zygo_http_responses_total", "counter",
                  "Answers, by status; 0: the client left.");
  for (const auto& [status, count] : answers_)
    out += fmt::format("zygo_http_responses_total{{status=\"{}\"}} {}\n", status, count);
  gauge(out, "zygo_queue_jobs", "Jobs that wait.", now.queued);
  gauge(out, "zygo_queue_limit", "Jobs that may wait.", now.most_queued);
  describe_metric(out, "zygo_estimated_wait_seconds", "gauge",
                  "Until a job that comes now would start, at the rate of the last jobs.");
  out += fmt::format("zygo_estimated_wait_seconds {:.3f}\n",
                     static_cast<double>(now.estimated_wait.count()) / 1e3);
  gauge(out, "zygo_engine_jobs", "Jobs that run or are about to.", now.running);
  gauge(out, "zygo_cells", "Cells that may run a job at once.", now.workers);
  gauge(out, "zygo_connections", "Open connections.", now.connections);
  gauge(out, "zygo_held_bytes", "Bytes of requests and unfetched results.", now.held_bytes);
  gauge(out, "zygo_held_bytes_limit", "The most of them.", now.most_held_bytes);
  append_resources(out, now, cpu_us_);
  describe_metric(out, "zygo_job_seconds", "histogram",
                  "Time of a job from admission to its result.");
  append_histogram(out, "zygo_job_seconds", "", totals_);
  describe_metric(out, "zygo_queue_seconds", "histogram",
                  "Time that a job has waited to be started.");
  append_histogram(out, "zygo_queue_seconds", "", queued_);
  gauge(out, "zygo_durable_jobs", "Durable jobs without a verdict.", now.durable_waiting);
  gauge(out, "zygo_durable_unwritten_verdicts", "Verdicts that are not on the disk yet.",
        now.durable_unwritten);
  describe_metric(out, "zygo_stage_seconds", "histogram", "Time of a job at each station.");
  for (size_t i = 0; i < kStages; ++i)
    append_histogram(out, "zygo_stage_seconds", fmt::format("stage=\"{}\"", kStageNames[i]),
                     stages_[i]);
  return out;
}

}  // namespace service
