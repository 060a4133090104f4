#include "tools/cli/replay/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/json/result/result_json.h"
#include "runtime/json/result/result_reader.h"
#include "runtime/judging/signal_names.h"
#include "runtime/values/value.h"
#include "tools/cli/text.h"

namespace cli {
namespace {

using runtime::JobResult;
using runtime::Output;
using Found = std::optional<Difference>;

constexpr size_t kBefore = 12, kBehind = 28;  // bytes around a place that are shown
constexpr size_t kWidest = 60;

bool is_inside_of_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

std::string quoted(std::string_view text) {
  return '"' + escape_controls(text, Lines::kEscape) + '"';
}

std::string excerpt(std::string_view text, size_t at) {
  size_t begin = at - std::min(at, kBefore);
  while (begin > 0 && is_inside_of_character(text[begin])) --begin;
  size_t end = std::min(text.size(), at + kBehind);
  while (end < text.size() && is_inside_of_character(text[end])) ++end;
  return quoted(text.substr(begin, end - begin));
}

Found words(std::string axis, std::string where, std::string recorded, std::string here) {
  return Difference{std::move(axis), std::move(where), std::nullopt, std::move(recorded),
                    std::move(here)};
}

Found plain(const char* axis, const std::string& where, const std::string& a,
            const std::string& b) {
  return a == b ? std::nullopt : words(axis, where, a, b);
}

// The character in which two texts differ.
Found texts(const char* axis, const std::string& where, std::string_view a, std::string_view b) {
  if (a == b) return std::nullopt;
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  auto at = static_cast<size_t>(in_a - a.begin());
  const std::string_view longer = a.size() > b.size() ? a : b;
  while (at > 0 && is_inside_of_character(longer[at])) --at;
  const std::string_view alike = a.substr(0, at);
  const size_t newline = alike.rfind('\n');
  const std::string_view line = newline == alike.npos ? alike : alike.substr(newline + 1);
  Difference found{axis, where, std::nullopt, excerpt(a, at), excerpt(b, at)};
  found.place = {.byte = at,
                 .line = 1 + static_cast<size_t>(std::ranges::count(alike, '\n')),
                 .column = 1 + static_cast<size_t>(std::ranges::count_if(
                                   line, [](char c) { return !is_inside_of_character(c); }))};
  return found;
}

Found outputs(const char* axis, const std::string& where, const Output& a, const Output& b) {
  if (auto found = texts(axis, where, a.bytes, b.bytes)) return found;
  if (a.total == b.total) return std::nullopt;
  return words(axis, where.empty() ? "bytes" : where, std::to_string(a.total) + " bytes",
               std::to_string(b.total) + " bytes");
}

std::string words_of(const std::optional<runtime::ExitStatus>& exit) {
  if (!exit) return "none";
  return exit->signalled ? std::string(runtime::signal_name(exit->code))
                         : "code " + std::to_string(exit->code);
}

std::string words_of(const runtime::DetailValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* whole = std::get_if<int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  return std::get<bool>(value) ? "true" : "false";
}

Found details(const std::string& where, const runtime::Detail& a, const runtime::Detail& b) {
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i >= a.size()) return words("detail", where + b[i].first, "none", words_of(b[i].second));
    if (i >= b.size()) return words("detail", where + a[i].first, words_of(a[i].second), "none");
    if (a[i].first != b[i].first)
      return words("detail", where + a[i].first, a[i].first, b[i].first);
    const std::string left = words_of(a[i].second), right = words_of(b[i].second);
    if (auto found = texts("detail", where + a[i].first, left, right)) return found;
  }
  return std::nullopt;
}

Found exceptions(const std::string& where, const std::optional<runtime::Exception>& a,
                 const std::optional<runtime::Exception>& b) {
  if (a.has_value() != b.has_value())
    return words("exception", where, a ? a->type : "none", b ? b->type : "none");
  if (!a) return std::nullopt;
  if (auto found = texts("exception", where + "type", a->type, b->type)) return found;
  if (auto found = texts("exception", where + "message", a->message, b->message)) return found;
  return texts("exception", where + "traceback", a->traceback, b->traceback);
}

std::string json_of(const std::optional<std::string_view>& item) {
  if (!item) return "nothing";
  std::string json;
  runtime::append_json(*item, false, json);
  return clip(escape_controls(json, Lines::kEscape), kWidest);
}

Found values(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) {
    if (a.empty() == b.empty()) return std::nullopt;
    return words("value", "", a.empty() ? "null" : json_of(a), b.empty() ? "null" : json_of(b));
  }
  const auto found = runtime::difference(a, b, {.signs_of_zero = true});
  if (!found) return std::nullopt;
  return words("value", found->path, json_of(found->a), json_of(found->b));
}

Found files(const char* axis, const std::string& where, const runtime::OutputFiles& a,
            const runtime::OutputFiles& b) {
  for (size_t i = 0; i < std::max(a.files.size(), b.files.size()); ++i) {
    const std::string left = i < a.files.size() ? a.files[i].path : "";
    const std::string right = i < b.files.size() ? b.files[i].path : "";
    if (left != right) {
      return words(axis, where, left.empty() ? "no more files" : left,
                   right.empty() ? "no more files" : right);
    }
    if (auto found = texts(axis, where + left, a.files[i].content, b.files[i].content))
      return found;
    if (a.files[i].executable != b.files[i].executable) {
      const bool was = a.files[i].executable;
      return words(axis, where + left, was ? "executable" : "not executable",
                   was ? "not executable" : "executable");
    }
  }
  return plain(axis, where + "refused", std::to_string(a.refused.size()),
               std::to_string(b.refused.size()));
}

// The members that results and tests have alike.
template <typename T>
Found runs(const std::string& where, const T& a, const T& b) {
  if (auto found = plain("label", where, a.verdict.label(), b.verdict.label())) return found;
  if (compared_of(a.verdict) == Compared::kLabel) return std::nullopt;
  const std::string below = where.empty() ? "" : where + ".";
  if (auto found = plain("exit", where, words_of(a.exit), words_of(b.exit))) return found;
  if (auto found = details(below, a.verdict.detail, b.verdict.detail)) return found;
  if (auto found = outputs("stdout", where, a.out, b.out)) return found;
  if (auto found = outputs("stderr", where, a.err, b.err)) return found;
  return exceptions(below, a.exception, b.exception);
}

std::string words_of(const runtime::JudgeScore& given) {
  const auto number = [](const std::optional<double>& score) {
    return score ? fmt::format("{}", *score) : "none";
  };
  return number(given.score) + (given.multiplier ? " times " + number(given.multiplier) : "");
}

Found tests(const std::vector<runtime::TestResult>& a, const std::vector<runtime::TestResult>& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const std::string where = "tests[" + std::to_string(i) + "]";
    if (a[i].skipped != b[i].skipped) {
      return words("label", where, a[i].skipped ? "skipped" : a[i].verdict.label(),
                   b[i].skipped ? "skipped" : b[i].verdict.label());
    }
    if (a[i].skipped) continue;
    if (auto found = runs(where, a[i], b[i])) return found;
    if (compared_of(a[i].verdict) == Compared::kLabel) continue;
    if (auto found = plain("score", where, words_of(a[i].given), words_of(b[i].given)))
      return found;
    if (auto found = files("feedback", where + ".", a[i].feedback, b[i].feedback)) return found;
  }
  return plain("tests", "", std::to_string(a.size()), std::to_string(b.size()));
}

Found determinism(const std::optional<runtime::DeterminismReport>& a,
                  const std::optional<runtime::DeterminismReport>& b) {
  auto told = [](const std::optional<runtime::DeterminismReport>& report) {
    if (!report) return std::string("none");
    std::string text = report->same ? "same" : report->axis + " " + report->where;
    if (!report->fixed) return text;
    return text + fmt::format(", fixed with seed {}, not fixed: {}", report->seed,
                              fmt::join(report->not_fixed, ", "));
  };
  return plain("determinism", "", told(a), told(b));
}

}  // namespace

Compared compared_of(const runtime::Verdict& verdict) {
  return verdict.by == runtime::By::kLimit ? Compared::kLabel : Compared::kEverything;
}

JobResult as_written(const JobResult& result) {
  std::string text;
  runtime::append_result(result, text);
  sys::Result<JobResult> read = runtime::parse_result(text);
  return read ? std::move(read).value() : result;
}

std::optional<Difference> difference_of(const JobResult& recorded, const JobResult& here) {
  if (auto found = runs("", recorded, here)) return found;
  if (compared_of(recorded.verdict) == Compared::kLabel) return std::nullopt;
  if (auto found = values(recorded.value, here.value)) return found;
  if (auto found = files("outputs", "", recorded.files, here.files)) return found;
  if (auto found = tests(recorded.tests, here.tests)) return found;
  return determinism(recorded.determinism, here.determinism);
}

}  // namespace cli
