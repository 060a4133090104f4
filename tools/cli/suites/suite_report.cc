#include "tools/cli/suites/suite_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace cli {
namespace {

using nlohmann::ordered_json;

constexpr size_t kMostDetail = 200;

std::string safe(std::string_view text) { return escape_controls(text, Lines::kEscape); }

std::string padded(const std::string& text, size_t width) {
  const size_t columns = columns_of(text);
  return text + std::string(width > columns ? width - columns : 0, ' ');
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// "; testimony: == 2, in 1"
std::string testimony_text(const SuiteTest& test) {
  std::string text;
  for (const auto& [name, count] : test.testimony)
    text += fmt::format("{}{} {}", text.empty() ? "testimony: " : ", ", name, count);
  return text;
}

Colour colour_of(const SuiteTest& test) {
  if (test.skipped()) return Colour::kYellow;
  return test.passed() ? Colour::kGreen : Colour::kRed;
}

// What XML 1.0 cannot say becomes visible, as on a terminal; the tests' report is ASCII but for
// what JSON escaped.
std::string xml(std::string_view text) {
  std::string out;
  for (const char c : escape_controls(text, Lines::kKeep)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
        out += "&#10;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string junit_case(const SuiteTest& test) {
  const size_t at = test.name.rfind("::");
  const std::string file = at == std::string::npos ? "" : test.name.substr(0, at);
  const std::string name = at == std::string::npos ? test.name : test.name.substr(at + 2);
  std::string text =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\"", xml(file), xml(name));
  if (test.passed()) return text + "/>\n";
  const char* element = test.skipped()                ? "skipped"
                        : test.label == "WrongAnswer" ? "failure"
                                                      : "error";
  const std::string type = test.skipped() ? "" : fmt::format(" type=\"{}\"", xml(test.label));
  return text +
         fmt::format("><{}{} message=\"{}\"/></testcase>\n", element, type, xml(test.detail));
}

}  // namespace

std::string suite_table(const SuiteOutcome& outcome, const Style& style) {
  size_t names = 4, labels = 5;
  for (const SuiteTest& test : outcome.tests) {
    names = std::max(names, columns_of(safe(test.name)));
    labels = std::max(labels, columns_of(test.label));
  }
  std::string text = style.paint(Colour::kBold, padded("test", names) + "  " +
                                                    padded("label", labels) + "  detail") +
                     "\n";
  for (const SuiteTest& test : outcome.tests) {
    std::string said = clip(safe(first_line(test.detail)), kMostDetail);
    const std::string testimony = testimony_text(test);
    if (!testimony.empty()) said += (said.empty() ? "" : "; ") + testimony;
    std::string row = padded(safe(test.name), names) + "  " +
                      style.paint(colour_of(test), padded(safe(test.label), labels)) + "  " + said;
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

std::string suite_summary(const SuiteOutcome& outcome, const Style& style) {
  std::string text = fmt::format("{} of {} tests passed", outcome.count_passed(),
                                 outcome.tests.size() - outcome.count_skipped());
  if (const size_t skipped = outcome.count_skipped()) text += fmt::format(", {} skipped", skipped);
  text += ": " + style.paint(outcome.passed ? Colour::kGreen : Colour::kRed, safe(outcome.label));
  if (!outcome.detail.empty())
    text += " (" + clip(safe(first_line(outcome.detail)), kMostDetail) + ")";
  return text;
}

std::string suite_json(const SuiteOutcome& outcome) {
  ordered_json tests = ordered_json::array();
  for (const SuiteTest& test : outcome.tests)
    tests.push_back({{"name", test.name},
                     {"label", test.label},
                     {"detail", test.detail},
                     {"testimony", test.testimony}});
  const size_t total = outcome.tests.size(), passed = outcome.count_passed(),
               skipped = outcome.count_skipped();
  const ordered_json made = {{"label", outcome.label},
                             {"passed", outcome.passed},
                             {"detail", outcome.detail},
                             {"tests", tests},
                             {"summary",
                              {{"total", total},
                               {"passed", passed},
                               {"failed", total - passed - skipped},
                               {"skipped", skipped}}},
                             {"usage",
                              {{"cpu_ms", outcome.usage.cpu_us / 1000},
                               {"wall_ms", outcome.usage.wall_us / 1000},
                               {"memory_peak_kb", outcome.usage.memory_peak_bytes / 1024}}}};
  return made.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

std::string suite_junit(const SuiteOutcome& outcome) {
  size_t failures = 0, errors = 0;
  std::string cases;
  for (const SuiteTest& test : outcome.tests) {
    cases += junit_case(test);
    if (test.passed() || test.skipped()) continue;
    ++(test.label == "WrongAnswer" ? failures : errors);
  }
  if (!outcome.passed && failures + errors == 0) {  // the suite has failed, and none of its tests
    cases += junit_case(
        {.name = "suite", .label = outcome.label, .detail = outcome.detail, .testimony = {}});
    ++errors;
  }
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"",
                  std::max(outcome.tests.size(), failures + errors), failures, errors,
                  outcome.count_skipped(), static_cast<double>(outcome.usage.wall_us) / 1e6);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<testsuites>\n"
      "  <testsuite name=\"zygo test\" {}>\n{}  </testsuite>\n</testsuites>\n",
      counts, cases);
}

}  // namespace cli
