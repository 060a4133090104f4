#include "tools/cli/selfcheck/judgement.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/cli/run/verdict_text.h"

namespace cli {
namespace {

using nlohmann::json;

// The report of the program itself: its last line of stdout.
struct Report {
  bool there = false;
  std::optional<bool> held = {};
  std::string how;
  std::string tried = "[]";
};

Report report_of(const runtime::JobResult& result) {
  std::string_view text = result.out.bytes;
  if (result.out.truncated || !text.ends_with('\n')) return {};
  text.remove_suffix(1);
  text.remove_prefix(text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1);
  json said = json::parse(text, nullptr, false);
  if (!said.is_object() || !said.contains("held") || !said.contains("how")) return {};
  if (!said["how"].is_string() || !(said["held"].is_boolean() || said["held"].is_null())) return {};
  Report report{.there = true, .how = said["how"].get<std::string>()};
  if (said["held"].is_boolean()) report.held = said["held"].get<bool>();
  if (said.contains("tried") && said["tried"].is_array()) {
    report.tried = said["tried"].dump(-1, ' ', false, json::error_handler_t::replace);
  }
  return report;
}

// Ended by itself and free to say what it saw; other endings are known without its word.
bool speaks_for_itself(std::string_view label) { return label == "OK" || label == "UnsafeCode"; }

bool may_end_as(const Attempt& attempt, const std::string& label) {
  return std::find(attempt.ends.begin(), attempt.ends.end(), label) != attempt.ends.end();
}

std::string disturbance(const Witness& witness) {
  if (!witness.neighbour) return "there was no neighbour";
  const runtime::JobResult& neighbour = *witness.neighbour;
  if (!neighbour.verdict.ok()) return "a neighbour ended as " + verdict_line(neighbour, Style());
  if (neighbour.out.bytes != witness.neighbour_output) return "a neighbour's output was changed";
  return {};
}

bool shows_secret(const Witness& witness) {
  auto shown = [&witness](const std::string& text) {
    return !witness.secret.empty() && text.find(witness.secret) != std::string::npos;
  };
  return shown(witness.result.out.bytes) || shown(witness.result.err.bytes) ||
         shown(witness.result.value);
}

bool promised(const Attempt& attempt, const runtime::JobResult& result) {
  bool at_level = result.level && std::find(attempt.promised.begin(), attempt.promised.end(),
                                            *result.level) != attempt.promised.end();
  return at_level && (attempt.needs.bits() & ~result.enforced.bits()) == 0;
}

}  // namespace

std::string layer_names(sandbox::Layers layers) {
  std::string names;
  for (unsigned i = 0; i < sandbox::kLayerCount; ++i) {
    auto layer = static_cast<sandbox::Layer>(i);
    if (!layers.has(layer)) continue;
    names += (names.empty() ? "" : ", ") + std::string(sandbox::name_of(layer));
  }
  return names;
}

std::string_view name_of(Standing standing) {
  switch (standing) {
    case Standing::kHeld:
      return "held";
    case Standing::kEscaped:
      return "escaped";
    case Standing::kUnclear:
      return "unclear";
    case Standing::kNotPromised:
      return "not promised";
  }
  return "";
}

Finding judge_attempt(const Attempt& attempt, const Witness& witness) {
  const runtime::JobResult& result = witness.result;
  const Report report = report_of(result);
  Finding finding{.name = attempt.name, .title = attempt.title, .label = result.verdict.label()};
  finding.tried = report.tried;
  finding.by = layer_names(sandbox::Layers::from_bits(attempt.by.bits() & result.enforced.bits()));
  auto find = [&finding](Standing standing, std::string seen) {
    finding.standing = standing;
    finding.seen = std::move(seen);
    return finding;
  };
  // The facts that others noticed come before those that the program says, at every level.
  if (!witness.damage.empty()) return find(Standing::kEscaped, witness.damage);
  if (shows_secret(witness)) return find(Standing::kEscaped, "its output has the planted secret");
  if (std::string disturbed = disturbance(witness); !disturbed.empty()) {
    return find(Standing::kEscaped, disturbed);
  }
  if (!result.level) return find(Standing::kUnclear, verdict_line(result, Style()));
  if (!promised(attempt, result)) {
    std::string said = report.there ? report.how : verdict_line(result, Style());
    return find(Standing::kNotPromised, said);
  }
  if (report.there && report.held == false) return find(Standing::kEscaped, report.how);
  if (witness.before) {
    const Report first = report_of(*witness.before);
    if (first.held == false) return find(Standing::kEscaped, "the job before it: " + first.how);
    if (!first.held || !speaks_for_itself(witness.before->verdict.label())) {
      return find(Standing::kUnclear,
                  "the job before it ended as " + verdict_line(*witness.before, Style()));
    }
  }
  if (!may_end_as(attempt, finding.label)) {
    bool no_failure = result.verdict.ok() && !report.there;
    return find(no_failure ? Standing::kEscaped : Standing::kUnclear,
                "ended as " + verdict_line(result, Style()));
  }
  if (!speaks_for_itself(finding.label))
    return find(Standing::kHeld, verdict_line(result, Style()));
  if (!report.there) return find(Standing::kUnclear, "ended without a report");
  return find(report.held ? Standing::kHeld : Standing::kUnclear, report.how);
}

}  // namespace cli
