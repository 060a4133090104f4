// problem.yaml, testdata.yaml, test_group.yaml and submissions.yaml: any bytes. The first says
// which; what is read is within its bounds, and errors say something. The flags go on to the
// default validator. The same bytes are also a submission that may say what it ends as.

#include <algorithm>
#include <cmath>
#include <string>

#include "runtime/judging/suite_verdicts.h"
#include "tests/fuzz/input.h"
#include "tools/cli/judge/expectations.h"
#include "tools/cli/judge/grading.h"
#include "tools/cli/judge/package/problem_2023.h"
#include "tools/cli/judge/package/yaml.h"
#include "tools/cli/judge/promise.h"
#include "tools/cli/judge/validation.h"

namespace {

size_t check_tree(const cli::YamlValue& value, size_t depth) {
  VERIFY(depth <= cli::kDeepestYaml + 1);
  size_t values = 1;
  for (const cli::YamlValue& item : value.items) values += check_tree(item, depth + 1);
  for (const auto& [key, field] : value.fields) {
    VERIFY(std::count_if(value.fields.begin(), value.fields.end(),
                         [&name = key](const auto& other) { return other.key == name; }) == 1);
    values += check_tree(field, depth + 1);
  }
  return values;
}

void check_flags(const std::vector<std::string>& flags) {
  for (const std::string& flag : flags)
    VERIFY(!flag.empty() && flag.find_first_of(" \t\r\n\f\v") == std::string::npos);
  const auto rules = cli::parse_validator_flags(flags);
  if (!rules) VERIFY(!rules.error().text().empty());
  if (rules && rules->absolute) VERIFY(*rules->absolute >= 0);
  if (rules && rules->relative) VERIFY(*rules->relative >= 0);
}

void check_problem(std::string_view text) {
  const auto settings = cli::read_problem_yaml(text);
  if (!settings) {
    VERIFY(!settings.error().text().empty());
    return;
  }
  const cli::ProblemLimits& limits = settings->limits;
  VERIFY(limits.time_multiplier >= 1 && limits.memory_mib >= 1 && limits.memory_mib <= 65536);
  VERIFY(limits.output_mib >= 1 && limits.validation_time_s >= 1);
  if (limits.time_limit_s) VERIFY(*limits.time_limit_s > 0 && *limits.time_limit_s <= 3600);
  check_flags(settings->validator_flags);
}

// A secret of that file with one group, of the same file: as a whole or with an error.
void check_scoring(const cli::GroupScoring& own) {
  std::vector<cli::TestGroup> groups = {{"", {}, {{true, 1}}, *cli::scoring_of("", {}, {})}};
  for (const char* name : {"secret", "secret/a"}) {
    const auto scoring = cli::scoring_of(name, own, groups);
    if (!scoring) {
      VERIFY(!scoring.error().text().empty());
      return;
    }
    VERIFY(scoring->most >= 0 && scoring->required.size() <= 64);
    groups.push_back({name, {}, {{false, 0}}, *scoring});
  }
  groups[1].items = {{true, 2}};
  for (const double given : {0.0, 1.0, 1e9}) {
    const cli::Graded graded = cli::grade(groups, {cli::TestScore{cli::Word::kAC, given}});
    VERIFY(graded.word != cli::Word::kAC || graded.score <= groups[1].scoring->most);
  }
}

// The format from 2023 on. The text is also a pattern of submissions, and the name of one.
void check_2023(std::string_view text) {
  for (const auto scope : {cli::Scope::kGroup, cli::Scope::kTest}) {
    const auto settings = cli::read_test_settings(text, scope, cli::ProblemType::kScoring);
    if (!settings) VERIFY(!settings.error().text().empty());
    if (settings) check_scoring(settings->scoring);
  }
  const std::string_view pattern = text.substr(0, text.find('\n'));
  static_cast<void>(
      cli::names_submission(pattern, text.substr(std::min<size_t>(pattern.size(), 200))));
  const auto expectations = cli::Expectations::read(text, cli::ProblemType::kScoring);
  if (!expectations) return;
  for (const char* path : {"accepted/a.py", "wrong_answer/b", "mixed/c.cpp"}) {
    const auto expected = expectations->of(path);
    if (expected) VERIFY(expected->promise.size() < 4);
    if (expected && expected->score) VERIFY(std::isfinite(expected->score->most));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const bool group = input.byte() == 'g';
  const std::string_view text = input.rest();

  const auto tree = cli::parse_yaml(text);
  if (tree) VERIFY(check_tree(*tree, 1) <= cli::kMostYamlValues + 1);
  if (!tree) VERIFY(tree.error().text().starts_with("line "));
  check_problem(text);
  check_2023(text);
  const auto promise = cli::promise_in(text);
  if (!promise) VERIFY(promise.error().text().size() < 200);
  if (!group) return 0;
  for (const auto type : {cli::ProblemType::kPassFail, cli::ProblemType::kScoring}) {
    const auto settings = cli::read_testdata_yaml(text, type);
    if (!settings) continue;
    if (settings->validator_flags) check_flags(*settings->validator_flags);
    if (settings->grading.range)
      VERIFY(settings->grading.range->least <= settings->grading.range->most);
    if (settings->grading.accept_score) VERIFY(std::isfinite(*settings->grading.accept_score));
  }
  if (const auto score = runtime::parse_score(text)) VERIFY(std::isfinite(*score));
  return 0;
}
