// Writes what `zygo certify --grader` shows: a row for each exploit and honest variant, the cases
// that went wrong, a summary; or JSON.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/cli/certify/grader/score.h"
#include "tools/cli/certify/scoring.h"

namespace cli {
namespace {

using nlohmann::ordered_json;

constexpr size_t kShownFindings = 20, kWidestName = 24;
constexpr Intent kInOrder[] = {Intent::kExploit, Intent::kWrong, Intent::kHonest};

std::string plain(const std::string& text) { return escape_controls(text, Lines::kEscape); }

std::string row_line(const GraderRow& row, const Style& style) {
  const std::string bad =
      style.paint(row.bad == 0 ? Colour::kGreen : Colour::kRed, fmt::format("{:>6}", row.bad));
  std::string line = fmt::format("{:<{}}  {:>5}  {}  {:>10}", row.name, kWidestName, row.cases, bad,
                                 row.no_verdict);
  return row.description.empty() ? line + "\n" : line + "  " + row.description + "\n";
}

std::string finding_line(const GraderFinding& finding) {
  const GraderCase& which = finding.which;
  const std::string reason = finding.judgement.reason.empty()
                                 ? ""
                                 : " (" + clip(plain(finding.judgement.reason), 120) + ")";
  return fmt::format("{} {} on {}: {}{}\n", name_of(which.intent), which.variant, which.task->name,
                     name_of(finding.judgement.answer), reason);
}

std::string sentence(const GraderRow& sum, const char* of_what, const char* bad,
                     const Style& style) {
  if (sum.cases == 0) return "";
  const Interval interval = wilson_interval(sum.bad, sum.cases);
  const std::string count = fmt::format("{} of {} {} {}", sum.bad, sum.cases, of_what, bad);
  return fmt::format("{}: 95 % interval {:.2f} to {:.2f} %\n",
                     style.paint(sum.bad == 0 ? Colour::kGreen : Colour::kRed, count),
                     100 * interval.low, 100 * interval.high);
}

ordered_json row_json(const GraderRow& row) {
  const Interval interval = wilson_interval(row.bad, row.cases);
  ordered_json object = {{"cases", row.cases},
                         {"bad", row.bad},
                         {"no_verdict", row.no_verdict},
                         {"interval", {interval.low, interval.high}}};
  if (row.name.empty()) return object;
  ordered_json named = {{"name", row.name}, {"description", row.description}};
  named.update(object);
  return named;
}

ordered_json finding_json(const GraderFinding& finding) {
  const GraderCase& which = finding.which;
  return {{"id", which.id},
          {"intent", name_of(which.intent)},
          {"name", which.variant},
          {"task", which.task->name},
          {"answer", name_of(finding.judgement.answer)},
          {"reason", finding.judgement.reason},
          {"program", which.program}};
}

ordered_json template_json(const ProgramTemplate& form) {
  ordered_json kinds = ordered_json::array();
  for (const TaskKind kind : form.kinds) kinds.push_back(name_of(kind));
  return {{"name", form.name}, {"description", form.description}, {"kinds", std::move(kinds)}};
}

std::string dumped(const ordered_json& all) {
  return all.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

}  // namespace

std::string grader_table(const GraderCertificate& made, const Style& style) {
  std::string text;
  for (const Intent intent : kInOrder) {
    const bool honest = intent == Intent::kHonest;
    if (intent != Intent::kWrong) {
      text +=
          fmt::format("{:<{}}  cases  {}  no verdict\n", honest ? "\nhonest variant" : "exploit",
                      kWidestName + (honest ? 1 : 0), honest ? "failed" : "forged");
    }
    for (const GraderRow& row : made.rows) {
      if (row.intent == intent && row.cases > 0) text += row_line(row, style);
    }
  }
  return text;
}

std::string grader_end(const GraderCertificate& made, const Style& style) {
  std::string text;
  for (size_t i = 0; i < std::min(made.findings.size(), kShownFindings); ++i)
    text += finding_line(made.findings[i]);
  if (made.findings.size() > kShownFindings)
    text += fmt::format("... and {} more\n", made.findings.size() - kShownFindings);
  if (!made.left_out.empty())
    text += fmt::format("left out without namespaces: {}\n", fmt::join(made.left_out, ", "));
  text += sentence(made.total(Intent::kWrong), "wrong programs", "passed", style);
  text += sentence(made.total(Intent::kHonest), "honest programs", "failed", style);
  text += sentence(made.total(Intent::kExploit), "exploits", "forged a pass", style);
  if (text.empty()) return "no case was chosen";
  text.pop_back();
  return text;
}

std::string grader_json(const GraderCertificate& made) {
  std::map<Intent, ordered_json> rows;
  for (const Intent intent : kInOrder) rows[intent] = ordered_json::array();
  for (const GraderRow& row : made.rows) {
    if (row.cases > 0) rows[row.intent].push_back(row_json(row));
  }
  ordered_json findings = ordered_json::array(), total = ordered_json::object();
  for (const GraderFinding& each : made.findings) findings.push_back(finding_json(each));
  for (const Intent intent : kInOrder)
    total[std::string(name_of(intent))] = row_json(made.total(intent));
  return dumped({{"ok", made.ok()},
                 {"grader", made.command},
                 {"seed", made.seed},
                 {"fence", made.fence},
                 {"limits", made.limits},
                 {"left_out", made.left_out},
                 {"confidence", 0.95},
                 {"exploits", rows[Intent::kExploit]},
                 {"wrong", rows[Intent::kWrong]},
                 {"honest", rows[Intent::kHonest]},
                 {"total", std::move(total)},
                 {"findings", std::move(findings)},
                 {"seconds", made.seconds}});
}

std::string grader_list(const GraderCorpus& corpus) {
  std::string text = "exploits\n";
  for (const ProgramTemplate& each : corpus.exploits)
    text += fmt::format("  {:<{}}  {}\n", each.name, kWidestName, each.description);
  text += "honest variants, beside those of each task\n";
  for (const ProgramTemplate& each : corpus.variants)
    text += fmt::format("  {:<{}}  {}\n", each.name, kWidestName, each.description);
  text += "tasks\n";
  for (const GraderTask& each : corpus.tasks)
    text += fmt::format("  {:<{}}  {}\n", each.name, kWidestName, name_of(each.kind));
  text.pop_back();
  return text;
}

std::string grader_list_json(const GraderCorpus& corpus) {
  ordered_json exploits = ordered_json::array(), variants = exploits, tasks = exploits;
  for (const ProgramTemplate& each : corpus.exploits) exploits.push_back(template_json(each));
  for (const ProgramTemplate& each : corpus.variants) variants.push_back(template_json(each));
  for (const GraderTask& each : corpus.tasks) {
    ordered_json honest = ordered_json::array();
    for (const NamedProgram& one : each.honest) honest.push_back(one.name);
    tasks.push_back({{"name", each.name}, {"kind", name_of(each.kind)}, {"honest", honest}});
  }
  return dumped({{"exploits", exploits}, {"variants", variants}, {"tasks", tasks}});
}

}  // namespace cli
