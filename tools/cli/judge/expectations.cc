#include "tools/cli/judge/expectations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tools/cli/judge/package/yaml_fields.h"

namespace cli {
namespace {

using Kind = YamlValue::Kind;

constexpr size_t kMostAlternatives = 64;  // that the braces of a pattern stand for
const Promise kAnyWord = {Word::kAC, Word::kWA, Word::kTLE, Word::kRTE};

struct Default {
  std::string_view folder;
  Promise permitted, required;
};

const std::array<Default, 6>& defaults() {
  static const std::array<Default, 6> all = {{
      {"accepted", {Word::kAC}, kAnyWord},
      {"rejected", kAnyWord, {Word::kWA, Word::kTLE, Word::kRTE}},
      {"wrong_answer", {Word::kAC, Word::kWA}, {Word::kWA}},
      {"time_limit_exceeded", {Word::kAC, Word::kTLE}, {Word::kTLE}},
      {"run_time_error", {Word::kAC, Word::kRTE}, {Word::kRTE}},
      {"brute_force", {Word::kAC, Word::kTLE, Word::kRTE}, {Word::kTLE, Word::kRTE}},
  }};
  return all;
}

bool has(const Promise& words, Word word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void narrow(Promise& words, const Promise& to) {
  words.erase(std::remove_if(words.begin(), words.end(), [&to](Word w) { return !has(to, w); }),
              words.end());
}

sys::Result<Promise> results_in(const std::string& field, const YamlValue& value) {
  Promise words;
  for (const std::string& text : TRY(strings_in(field, value))) {
    auto word = std::find_if(kAnyWord.begin(), kAnyWord.end(),
                             [&text](Word each) { return name_of(each) == text; });
    if (word == kAnyWord.end())
      return wrong_field(field, value, "expected a list of AC, WA, TLE and RTE");
    words.push_back(*word);
  }
  return words;
}

// One number, or the least and the most.
sys::Result<ScoreRange> score_in(const std::string& field, const YamlValue& value) {
  constexpr double kLargest = 1e15;
  if (value.kind != Kind::kList) {
    const double score = TRY(number_in(field, value, 0, kLargest));
    return ScoreRange{score, score};
  }
  if (value.items.size() != 2) return wrong_field(field, value, "expected one number or two");
  const ScoreRange range{TRY(number_in(field, value.items[0], 0, kLargest)),
                         TRY(number_in(field, value.items[1], 0, kLargest))};
  if (range.least > range.most) return wrong_field(field, value, "expected the smaller one first");
  return range;
}

// The patterns without braces that one with them stands for; no more than a bound.
std::vector<std::string> without_braces(std::string_view pattern) {
  std::vector<std::string> done, open{std::string(pattern)};
  while (!open.empty() && done.size() + open.size() <= kMostAlternatives) {
    const std::string text = std::move(open.back());
    open.pop_back();
    const size_t end = text.find('}');
    const size_t begin = end == text.npos ? text.npos : text.rfind('{', end);
    if (begin == text.npos) {
      done.push_back(text);
      continue;
    }
    std::string_view list = std::string_view(text).substr(begin + 1, end - begin - 1);
    for (;;) {
      const std::string_view each = list.substr(0, list.find(','));
      open.push_back(text.substr(0, begin) + std::string(each) + text.substr(end + 1));
      if (each.size() == list.size() || open.size() > kMostAlternatives) break;
      list.remove_prefix(each.size() + 1);
    }
  }
  return done;
}

// One name. A star that is tried anew takes in one character more; only the last one is.
bool matches(std::string_view pattern, std::string_view name) {
  size_t at = 0, in = 0, after_star = pattern.npos, taken = 0;
  while (in < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      after_star = ++at;
      taken = in;
    } else if (at < pattern.size() && pattern[at] == name[in]) {
      ++at;
      ++in;
    } else if (after_star != pattern.npos) {
      at = after_star;
      in = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == pattern.npos;
}

std::string_view next_part(std::string_view& path) {
  const std::string_view part = path.substr(0, path.find('/'));
  path.remove_prefix(std::min(part.size() + 1, path.size()));
  return part;
}

bool matches_path(std::string_view pattern, std::string_view path) {
  while (!pattern.empty() && !path.empty()) {
    if (!matches(next_part(pattern), next_part(path))) return false;
  }
  return pattern.empty();
}

}  // namespace

bool names_submission(std::string_view pattern, std::string_view path) {
  const std::vector<std::string> patterns = without_braces(pattern);
  return std::any_of(patterns.begin(), patterns.end(), [path](const std::string& each) {
    return !each.empty() && matches_path(each, path);
  });
}

sys::Result<Expectations::Rule> Expectations::read_rule(const std::string& pattern,
                                                        const YamlValue& value, ProblemType type,
                                                        std::vector<std::string>& ignored) {
  constexpr std::array kUnused = {"language", "entrypoint", "score", "message"};
  TRY(expect_map(pattern, value));
  Rule rule{pattern, {}, {}, true, {}};
  for (const auto& [name, each] : value.fields) {
    const std::string field = fmt::format("{}: {}", pattern, name);
    const bool is_unused = std::find(kUnused.begin(), kUnused.end(), name) != kUnused.end();
    if (name == "permitted") {
      rule.permitted = TRY(results_in(field, each));
    } else if (name == "required") {
      rule.required = TRY(results_in(field, each));
    } else if (name == "use_for_time_limit") {
      const std::string use = TRY(text_in(field, each));
      if (use != "true" && use != "false" && use != "lower" && use != "upper")
        return wrong_field(field, each, "expected true, false, lower or upper");
      rule.measures = use != "false";
    } else if (name == "score" && type == ProblemType::kScoring) {
      rule.score = TRY(score_in(field, each));
    } else if (is_unused || each.kind == Kind::kMap) {
      ignored.push_back("submissions.yaml: " + field);  // a map: it is about some of the tests
    } else if (name != "authors" && name != "model_solution") {
      return wrong_field(field, each, "unknown field");
    }
  }
  return rule;
}

sys::Result<Expectations> Expectations::read(std::string_view yaml, ProblemType type) {
  Expectations made;
  const YamlValue root = TRY(map_in(yaml));
  for (const auto& [pattern, value] : root.fields)
    made.rules_.push_back(TRY(read_rule(pattern, value, type, made.ignored_)));
  return made;
}

sys::Result<Expectations::Expected> Expectations::of(std::string_view path) const {
  const std::string_view folder = path.substr(0, path.find('/'));
  Promise permitted = kAnyWord, required = kAnyWord;
  for (const Default& each : defaults()) {
    if (each.folder != folder) continue;
    permitted = each.permitted;
    required = each.required;
  }
  // The folder's own name takes the place of what it says by default; others add to it.
  for (const Rule& rule : rules_) {
    if (rule.pattern != folder) continue;
    permitted = rule.permitted.value_or(permitted);
    required = rule.required.value_or(required);
  }
  Expected expected;
  for (const Rule& rule : rules_) {
    if (!names_submission(rule.pattern, path)) continue;
    expected.measures = expected.measures && rule.measures;
    if (rule.permitted) narrow(permitted, *rule.permitted);
    if (rule.required) narrow(required, *rule.required);
    if (!rule.score) continue;
    ScoreRange& score = expected.score ? *expected.score : expected.score.emplace();
    score.least = std::max(score.least, rule.score->least);
    score.most = std::min(score.most, rule.score->most);
  }
  // The first test that fails is any that is permitted to.
  for (const Word word : permitted) {
    if (word != Word::kAC || has(required, word)) expected.promise.push_back(word);
  }
  const bool can_be = std::any_of(required.begin(), required.end(),
                                  [&permitted](Word word) { return has(permitted, word); });
  if (!can_be)
    return sys::Error::because(
        fmt::format("submissions.yaml: {}: what is required is not permitted", path));
  if (expected.promise.size() == kAnyWord.size()) expected.promise.clear();
  return expected;
}

}  // namespace cli
