#include "tools/cli/judge/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/cli/run/verdict_text.h"
#include "tools/cli/units.h"

namespace cli {
namespace {

using nlohmann::ordered_json;

constexpr size_t kLongestSaid = 4096;

std::string safe(std::string_view text) { return escape_controls(text, Lines::kEscape); }

std::string padded(std::string_view text, size_t width) {
  const size_t columns = columns_of(text);
  return std::string(text) + std::string(width > columns ? width - columns : 0, ' ');
}

std::string seconds_text(int64_t microseconds) {
  return fmt::format("{:.3f} s", static_cast<double>(microseconds) / 1e6);
}

bool is_accepted(const Judged& judged) {
  return judged.word == Word::kAC || judged.word == Word::kPAC;
}

// "WrongAnswer (...) on secret/02"; "OK".
std::string reason(const Judged& judged) {
  if (!judged.complaint.empty()) return safe(judged.complaint);
  if (!judged.decisive) return is_accepted(judged) ? "OK" : "interrupted";
  const TestVerdict& test = judged.tests[*judged.decisive];
  runtime::JobResult told;
  told.verdict = test.verdict;
  told.exception = test.exception;
  std::string text = verdict_line(told, Style());
  if (!test.name.empty() && test.word != Word::kCE) text += " on " + safe(test.name);
  return text;
}

ordered_json detail_json(const runtime::Detail& detail) {
  ordered_json made = ordered_json::object();
  for (const auto& entry : detail)
    std::visit([&](const auto& held) { made[entry.first] = held; }, entry.second);
  return made;
}

ordered_json test_json(const TestVerdict& test, bool has_scores) {
  ordered_json made = {{"name", test.name},
                       {"verdict", name_of(test.word)},
                       {"label", test.verdict.label()},
                       {"by", runtime::name_of(test.verdict.by)},
                       {"detail", detail_json(test.verdict.detail)},
                       {"cpu_ms", test.usage.cpu_us / 1000},
                       {"wall_ms", test.usage.wall_us / 1000},
                       {"memory_peak_kb", test.usage.memory_peak_bytes / 1024},
                       {"contended", test.usage.contended}};
  if (has_scores && test.given.score) made["score"] = *test.given.score;
  if (has_scores && test.given.multiplier) made["score_multiplier"] = *test.given.multiplier;
  return made;
}

ordered_json groups_json(const std::vector<GroupScore>& groups) {
  ordered_json made = ordered_json::array();
  for (const GroupScore& group : groups)
    made.push_back(
        {{"name", group.name}, {"verdict", name_of(group.word)}, {"score", group.score}});
  return made;
}

}  // namespace

std::string heading(const Package& package, const Measure& measure) {
  const std::string& name = package.settings.name;
  std::string text =
      fmt::format("{}: {} tests, time limit {:.3f} s", name.empty() ? "problem" : safe(name),
                  package.tests.size(), static_cast<double>(measure.time_limit.count()) / 1000);
  if (measure.slowest_us)
    text += fmt::format(" (slowest accepted {}, x {})", seconds_text(*measure.slowest_us),
                        measure.multiplier);
  const auto memory = static_cast<uint64_t>(package.settings.limits.memory_mib * 1048576);
  return text + ", memory limit " + format_size(memory);
}

std::string table_head(const Columns& columns, const Style& style) {
  const std::string expected = columns.expected ? "expected  " : "";
  const std::string score = columns.scores ? fmt::format("{:>9}  ", "score") : "";
  return style.paint(
      Colour::kBold,
      fmt::format("{}  {}  {}got  {}{:>9}  {:>10}  {}", padded("submission", columns.path),
                  padded("language", columns.language), expected, score, "cpu", "memory", "label"));
}

std::string table_row(const Row& row, const Columns& columns, const Style& style) {
  const Judged& judged = row.judged;
  const bool well = columns.expected ? row.good() : is_accepted(judged);
  const std::string got =
      style.paint(well ? Colour::kGreen : Colour::kRed, padded(name_of(judged.word), 3));
  std::string text = fmt::format("{}  {}  ", padded(safe(judged.path), columns.path),
                                 padded(judged.language, columns.language));
  if (row.promise) text += padded(text_of(*row.promise), 8) + "  ";
  const std::string score = judged.score ? score_text(*judged.score) : "-";
  text += got + "  ";
  if (columns.scores) text += fmt::format("{:>9}  ", score);
  text += fmt::format("{:>9}  {:>10}  {}", seconds_text(judged.slowest_cpu_us),
                      format_size(static_cast<uint64_t>(judged.memory_peak_bytes)), reason(judged));
  if (!row.good()) text += style.paint(Colour::kRed, "  <- not as expected");
  if (!row.good_score())
    text += fmt::format(" (score {} to {})", score_text(row.score_promise->least),
                        score_text(row.score_promise->most));
  return text;
}

std::string groups_text(const Judged& judged) {
  size_t width = 0;
  for (const GroupScore& group : judged.groups) width = std::max(width, columns_of(group.name));
  std::string text;
  for (const GroupScore& group : judged.groups) {
    if (!text.empty()) text += '\n';
    text += fmt::format("    {}  {}  {:>9}", padded(safe(group.name), width),
                        padded(name_of(group.word), 3), score_text(group.score));
  }
  return text;
}

std::string row_json(const Row& row, const Measure& measure, const Columns& columns) {
  const Judged& judged = row.judged;
  const TestVerdict* decisive = judged.decisive ? &judged.tests[*judged.decisive] : nullptr;
  ordered_json made = {{"submission", judged.path},
                       {"language", judged.language},
                       {"verdict", name_of(judged.word)}};
  if (decisive != nullptr) {
    made["label"] = decisive->verdict.label();
    made["by"] = runtime::name_of(decisive->verdict.by);
    made["test"] = decisive->name;
    made["detail"] = detail_json(decisive->verdict.detail);
    made["stderr"] = decisive->err.substr(0, kLongestSaid);
  } else if (!judged.complaint.empty()) {
    made["label"] = "BadJob";
    made["by"] = "caller";
    made["detail"] = {{"message", judged.complaint}};
  } else {
    made["label"] = is_accepted(judged) ? "OK" : "Cancelled";
    made["by"] = is_accepted(judged) ? "program" : "caller";
  }
  if (columns.scores) {
    made["score"] = judged.score ? ordered_json(*judged.score) : ordered_json();
    made["groups"] = groups_json(judged.groups);
  }
  if (row.promise) {
    made["expected"] = text_of(*row.promise);
    if (row.score_promise)
      made["expected_score"] = {row.score_promise->least, row.score_promise->most};
    made["as_expected"] = row.good();
  }
  made["time_limit_ms"] = measure.time_limit.count();
  made["cpu_ms"] = judged.slowest_cpu_us / 1000;
  made["memory_peak_kb"] = judged.memory_peak_bytes / 1024;
  made["tests"] = ordered_json::array();
  const bool ran = !judged.language.empty();
  if (ran) {
    for (const TestVerdict& test : judged.tests)
      made["tests"].push_back(test_json(test, columns.scores));
  }
  return made.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

std::string progress_text(const SourceProgram& program, const TestVerdict& test, size_t done,
                          size_t total) {
  return fmt::format("{}  {}/{}  {}  {}", safe(program.path), done, total, safe(test.name),
                     name_of(test.word));
}

}  // namespace cli
