#include "tools/cli/certify/grader/score.h"

#include <algorithm>

namespace cli {
namespace {

constexpr const char* kWrongPrograms = "wrong programs";

GraderRow& row_of(std::vector<GraderRow>& rows, const GraderCase& each) {
  const std::string name = each.intent == Intent::kWrong ? kWrongPrograms : each.variant;
  const auto found = std::ranges::find_if(
      rows, [&](const GraderRow& row) { return row.intent == each.intent && row.name == name; });
  return found != rows.end() ? *found : rows.emplace_back(GraderRow{each.intent, name, ""});
}

void add_row(std::vector<GraderRow>& rows, Intent intent, const std::string& name,
             const std::string& description) {
  const bool known = std::ranges::any_of(
      rows, [&](const GraderRow& row) { return row.intent == intent && row.name == name; });
  if (!known) rows.push_back({intent, name, description});
}

}  // namespace

bool is_bad(Intent intent, Answer answer) {
  return intent == Intent::kHonest ? answer != Answer::kPassed : answer == Answer::kPassed;
}

GraderCertificate empty_certificate(const GraderCorpus& corpus) {
  GraderCertificate made;
  for (const ProgramTemplate& each : corpus.exploits)
    add_row(made.rows, Intent::kExploit, each.name, each.description);
  add_row(made.rows, Intent::kWrong, kWrongPrograms, "that simply compute something else");
  add_row(made.rows, Intent::kHonest, "plain", "as anybody writes it");
  add_row(made.rows, Intent::kHonest, "renamed", "other names of variables");
  for (const ProgramTemplate& each : corpus.variants)
    add_row(made.rows, Intent::kHonest, each.name, each.description);
  for (const GraderTask& task : corpus.tasks) {
    for (const NamedProgram& each : task.honest) add_row(made.rows, Intent::kHonest, each.name, "");
  }
  return made;
}

void GraderCertificate::add(const GraderCase& each, const GraderEnd& end) {
  GraderRow& row = row_of(rows, each);
  const Judgement judgement = judge_answer(end);
  ++row.cases;
  if (judgement.answer == Answer::kNone) ++row.no_verdict;
  if (!is_bad(each.intent, judgement.answer)) return;
  ++row.bad;
  findings.push_back({each, judgement});
}

GraderRow GraderCertificate::total(Intent intent) const {
  GraderRow sum{intent, "", ""};
  for (const GraderRow& row : rows) {
    if (row.intent != intent) continue;
    sum.cases += row.cases;
    sum.bad += row.bad;
    sum.no_verdict += row.no_verdict;
  }
  return sum;
}

}  // namespace cli
