#include "tools/cli/top/top_stats.h"

#include <fmt/format.h>

#include "tools/cli/top/foreign_json.h"
#include "tools/cli/units.h"

namespace cli {
namespace {

using foreign::at;
using foreign::each;
using foreign::json;
using foreign::number;
using foreign::number_of;
using foreign::text;

void read_column(const json& history, const char* key, int64_t TopStats::Second::*member,
                 std::vector<TopStats::Second>& into) {
  size_t i = 0;
  each(at(history, key), [&](const json& value) {
    if (i == into.size()) into.emplace_back();
    into[i++].*member = number_of(value);
  });
}

// Empty: it says nothing to a reader.
std::string phrase(const std::string& key, const json& value) {
  if (value.is_structured() || value.is_boolean() || key == "policy") return "";
  const std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
  if (key == "count" && shown == "1") return "";
  if (key == "limit") return shown + " limit";
  if (key == "measured_ms") return "used " + shown + " ms";
  if (key.ends_with("_ms")) return shown + " ms";
  if (key.ends_with("_bytes")) return format_size(static_cast<uint64_t>(number_of(value)));
  if (key == "syscall" || key == "signal" || key == "reason") return shown;
  return fmt::format("{} {}", key, shown);
}

// "wall limit 100 ms, used 101 ms, line 3"
std::string evidence_of(const json& detail) {
  std::string words;
  if (!detail.is_object()) return words;
  for (const auto& [key, value] : detail.items()) {
    const std::string next = phrase(key, value);
    const char* between = words.empty() ? "" : key.starts_with("limit_") ? " " : ", ";
    if (!next.empty()) words += between + next;
  }
  return words;
}

void read_lists(const json& all, TopStats& into) {
  each(at(at(all, "jobs"), "labels"), [&](const json& row) {
    into.labels.emplace_back(text(row, "label"), number(row, "count"));
  });
  each(at(all, "stages"), [&](const json& row) {
    into.stages.push_back(
        {text(row, "stage"), number(row, "p50_us"), number(row, "p90_us"), number(row, "p99_us")});
  });
  each(at(all, "failures"), [&](const json& row) {
    into.failures.push_back({number(row, "time_ms"), text(row, "label"), text(row, "id"),
                             text(row, "client"), evidence_of(at(row, "detail"))});
  });
  const json& history = at(all, "history");
  using Row = TopStats::Second;
  for (const auto& [key, member] :
       {std::pair{"ended", &Row::ended}, std::pair{"ok", &Row::ok},
        std::pair{"refused", &Row::refused}, std::pair{"queued", &Row::queued},
        std::pair{"running", &Row::running}, std::pair{"p50_us", &Row::p50},
        std::pair{"p99_us", &Row::p99}})
    read_column(history, key, member, into.seconds);
}

}  // namespace

sys::Result<TopStats> read_top_stats(std::string_view bytes) {
  const json all = TRY(foreign::read(bytes, "its statistics"));
  TopStats stats;
  stats.version = text(all, "version");
  stats.level = text(all, "level");
  stats.state = text(all, "state");
  stats.uptime_us = number(all, "uptime_us");
  const json& now = at(all, "now");
  for (const auto& [key, member] :
       {std::pair{"queued", &TopStats::queued}, std::pair{"queue_limit", &TopStats::queue_limit},
        std::pair{"running", &TopStats::running}, std::pair{"workers", &TopStats::workers},
        std::pair{"cells", &TopStats::cells}, std::pair{"templates", &TopStats::templates},
        std::pair{"connections", &TopStats::connections},
        std::pair{"resident_bytes", &TopStats::resident_bytes}})
    stats.*member = number(now, key);
  stats.forks = number(at(all, "since_start"), "forks");
  stats.job_cpu_us = number(at(all, "since_start"), "job_cpu_us");
  stats.total = number(at(all, "jobs"), "total");
  stats.ok = number(at(all, "jobs"), "ok");
  read_lists(all, stats);
  return stats;
}

}  // namespace cli
