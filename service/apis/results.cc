#include "service/apis/results.h"

#include "runtime/job/micros.h"
#include "runtime/values/utf8.h"

namespace service {

using nlohmann::json;
using nlohmann::ordered_json;
using runtime::Family;
using runtime::Outcome;
using runtime::Verdict;

std::string text_of(const runtime::Output& output) { return runtime::repaired_utf8(output.bytes); }

bool is_not_the_programs(const Verdict& verdict) {
  return verdict.by == runtime::By::kSandbox || verdict.by == runtime::By::kCaller;
}

bool ended_well(const Verdict& verdict) {
  return verdict.outcome == Outcome::kOk || verdict.outcome == Outcome::kNonDeterministic;
}

bool met_limit_of_space(const Verdict& verdict) {
  const Family family = family_of(verdict.outcome);
  return family == Family::kMemory || family == Family::kOutput || family == Family::kOtherLimit;
}

const std::string* detail_text(const Verdict& verdict, std::string_view name) {
  for (const auto& [key, value] : verdict.detail) {
    if (key == name) return std::get_if<std::string>(&value);
  }
  return nullptr;
}

json detail_of(const Verdict& verdict) {
  json detail = json::object();
  for (const auto& [key, value] : verdict.detail)
    detail[key] = std::visit([](const auto& plain) { return json(plain); }, value);
  return detail;
}

std::string text_of_detail(const Verdict& verdict) {
  return detail_of(verdict).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string why_of(const Verdict& verdict) {
  const std::string* message = detail_text(verdict, "message");
  return verdict.label() + ": " + (message ? *message : text_of_detail(verdict));
}

std::string with_line(std::string text, std::string_view line) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text.append(line) += '\n';
}

ordered_json level_of(const runtime::JobResult& result) {
  return result.level ? ordered_json(name_of(*result.level)) : ordered_json();
}

ordered_json facts_of(const runtime::JobResult& result) {
  return {{"id", result.id},
          {"label", result.verdict.label()},
          {"by", name_of(result.verdict.by)},
          {"detail", detail_of(result.verdict)},
          {"level", level_of(result)}};
}

bool is_late_build(const Verdict& verdict) {
  const std::string* ended_as = detail_text(verdict, "ended_as");
  return ended_as && *ended_as == name_of(Outcome::kTimeout);
}

int64_t build_ms_of(const std::optional<runtime::CompileReport>& report) {
  return report ? runtime::rounded_milliseconds(report->wall_us) : 0;
}

int64_t wall_ms_of(const runtime::Usage& usage) {
  return runtime::rounded_milliseconds(usage.wall_us);
}

int64_t cpu_ms_of(const runtime::Usage& usage) {
  return runtime::rounded_milliseconds(usage.cpu_us);
}

json usage_of(const runtime::Usage& usage) {
  json made = {{"cpu_ms", cpu_ms_of(usage)},
               {"wall_ms", wall_ms_of(usage)},
               {"memory_peak_kb", usage.memory_peak_bytes / 1024},
               {"pids_peak", usage.pids_peak},
               {"contended", usage.contended},
               {"cpu_us", usage.cpu_us},
               {"wall_us", usage.wall_us}};
  if (usage.stopped_us) made["stopped_us"] = *usage.stopped_us;
  if (usage.reruns > 0) {
    made["reruns"] = usage.reruns;
    made["rerun_cpu_us"] = usage.rerun_cpu_us;
  }
  return made;
}

std::string line_of(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace service
