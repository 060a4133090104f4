// Writes what `zygo selfcheck` shows: a line per attempt, a summary, or JSON.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/cli/selfcheck/selfcheck.h"

namespace cli {
namespace {

using nlohmann::ordered_json;

constexpr size_t kTitle = 40, kStanding = 12;

Colour colour_of(Standing standing) {
  switch (standing) {
    case Standing::kHeld:
      return Colour::kGreen;
    case Standing::kNotPromised:
      return Colour::kYellow;
    case Standing::kEscaped:
    case Standing::kUnclear:
      return Colour::kRed;
  }
  return Colour::kNone;
}

std::string what_was_seen(const Finding& finding) {
  std::string by = finding.by.empty() ? "" : "[" + finding.by + "] ";
  return escape_controls(by + finding.seen, Lines::kEscape);
}

}  // namespace

size_t SelfcheckReport::count(Standing standing) const {
  return static_cast<size_t>(
      std::count_if(findings.begin(), findings.end(),
                    [standing](const Finding& each) { return each.standing == standing; }));
}

bool SelfcheckReport::all_held() const {
  return count(Standing::kEscaped) == 0 && count(Standing::kUnclear) == 0 &&
         count(Standing::kHeld) > 0 && not_in_force.empty();
}

std::string finding_line(const Finding& finding, const Style& style, size_t width) {
  std::string title = clip(finding.title, kTitle);
  std::string word = fmt::format("{:<{}}", name_of(finding.standing), kStanding);
  std::string line = style.paint(colour_of(finding.standing), word) + "  " + title;
  std::string seen = what_was_seen(finding);
  bool bad = finding.standing == Standing::kEscaped || finding.standing == Standing::kUnclear;
  size_t used = kStanding + 2 + kTitle + 2;
  if (!bad && width >= used + 24) {
    return line + std::string(kTitle - columns_of(title) + 2, ' ') + clip(seen, width - used);
  }
  // A failure is worth its own line, and is shown whole.
  return line + "\n    " + (bad ? seen : clip(seen, width - 4));
}

std::string selfcheck_summary(const SelfcheckReport& report, const Style& style) {
  std::string text = fmt::format(
      "\nlevel {}, {} attempts in {:.1f} s: {} held, {} escaped, {} unclear, {} not promised",
      report.level, report.findings.size(), report.seconds, report.count(Standing::kHeld),
      report.count(Standing::kEscaped), report.count(Standing::kUnclear),
      report.count(Standing::kNotPromised));
  text += "\nin force: " + report.enforced;
  if (!report.not_in_force.empty()) {
    text += "\n" + style.paint(Colour::kRed, "given by the host, but not in force: ") +
            report.not_in_force;
  }
  if (report.all_held()) {
    return text + "\n" + style.paint(Colour::kGreen, "All that this level promises was held.");
  }
  return text + "\n" +
         style.paint(Colour::kRed, "The sandbox does NOT hold: run nothing untrusted here.");
}

std::string selfcheck_json(const SelfcheckReport& report) {
  auto list_of = [](const std::string& names) {
    ordered_json list = ordered_json::array();
    for (size_t at = 0; at < names.size();) {
      size_t end = std::min(names.find(", ", at), names.size());
      list.push_back(names.substr(at, end - at));
      at = end + 2;
    }
    return list;
  };
  ordered_json attempts = ordered_json::array();
  for (const Finding& each : report.findings) {
    attempts.push_back({{"name", each.name},
                        {"title", each.title},
                        {"standing", name_of(each.standing)},
                        {"label", each.label},
                        {"seen", each.seen},
                        {"by", list_of(each.by)},
                        {"tried", ordered_json::parse(each.tried, nullptr, false)}});
  }
  ordered_json all = {{"ok", report.all_held()},
                      {"level", report.level},
                      {"enforced", list_of(report.enforced)},
                      {"not_in_force", list_of(report.not_in_force)},
                      {"held", report.count(Standing::kHeld)},
                      {"escaped", report.count(Standing::kEscaped)},
                      {"unclear", report.count(Standing::kUnclear)},
                      {"not_promised", report.count(Standing::kNotPromised)},
                      {"seconds", report.seconds},
                      {"attempts", attempts}};
  return all.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace cli
