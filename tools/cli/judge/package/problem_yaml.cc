#include "tools/cli/judge/package/problem_yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "runtime/judging/suite_verdicts.h"
#include "tools/cli/judge/package/problem_2023.h"
#include "tools/cli/judge/package/problem_limits.h"
#include "tools/cli/judge/package/yaml_fields.h"

namespace cli {
namespace {

using YamlKind = YamlValue::Kind;

// Fields that say nothing about judging.
constexpr auto kMetadata = std::to_array<std::string_view>(
    {"uuid", "author", "authors", "credits", "source", "source_url", "license", "rights_owner",
     "keywords", "type", "version", "event", "problem_format_version"});
// Fields that do, elsewhere.
constexpr auto kIgnored =
    std::to_array<std::string_view>({"libraries", "languages", "show_test_data_groups"});
constexpr double kLargestScore = 1e15;

sys::Result<void> read_limit(const std::string& name, const YamlValue& value,
                             ProblemSettings& into) {
  const std::string field = "limits." + name;
  if (name == "time_multiplier") {
    into.limits.time_multiplier = TRY(number_in(field, value, 1, 1000));
  } else if (name == "time_safety_margin") {
    TRY(number_in(field, value, 1, 1000));
    into.ignored.push_back(field);
  } else if (!TRY(read_common_limit(name, value, into))) {
    return wrong_field(field, value, "unknown field");
  }
  return {};
}

// "default", "custom", "custom interactive", "custom score": words in any order after the first.
sys::Result<void> read_validation(const YamlValue& value, ProblemSettings& into) {
  const std::string text = TRY(text_in("validation", value));
  const std::vector<std::string> words = words_of(text);
  into.custom_validation = !words.empty() && words[0] == "custom";
  bool known = into.custom_validation || (words.size() == 1 && words[0] == "default");
  for (size_t i = 1; i < words.size(); ++i) {
    bool& said = words[i] == "score" ? into.validator_scores : into.interactive;
    known = known && !said && (words[i] == "score" || words[i] == "interactive");
    said = true;
  }
  if (!known)
    return wrong_field("validation", value,
                       "expected default, custom, or custom with interactive or score");
  if (into.validator_scores && into.type != ProblemType::kScoring)
    return wrong_field("validation", value, "score is for problems of type scoring");
  return {};
}

// Reads `grading` of a scoring problem; what belongs to testdata.yaml was once here.
sys::Result<void> read_grading(const YamlValue& value, ProblemSettings& into) {
  TRY(expect_map("grading", value));
  for (const auto& [name, each] : value.fields) {
    const std::string field = "grading." + name;
    if (name == "show_test_data_groups") continue;
    if (name != "objective") return wrong_field(field, each, "unknown field; see testdata.yaml");
    const std::string objective = TRY(text_in(field, each));
    if (objective != "min" && objective != "max")
      return wrong_field(field, each, "expected min or max");
    into.less_is_better = objective == "min";
  }
  return {};
}

sys::Result<void> read_field(const std::string& field, const YamlValue& value,
                             ProblemSettings& into) {
  if (field == "name") {
    into.name = TRY(name_in(value));
  } else if (field == "validation") {
    return read_validation(value, into);
  } else if (field == "grading" && into.type == ProblemType::kScoring) {
    return read_grading(value, into);
  } else if (field == "grading") {
    into.ignored.push_back(field);
  } else if (field == "validator_flags") {
    into.validator_flags = TRY(words_in(field, value));
  } else if (field == "limits") {
    TRY(expect_map(field, value));
    for (const auto& [name, limit] : value.fields) TRY(read_limit(name, limit, into));
  } else if (one_of(kIgnored, field)) {
    into.ignored.push_back(field);
  } else if (one_of(kMetadata, field)) {
    return {};
  } else {
    return wrong_field(field, value, "unknown field");
  }
  return {};
}

// Tells whether the verdicts need another grader than the default one, or the default one with
// flags.
bool is_of_graders(const std::string& field, const YamlValue& value) {
  if (field == "grading") return value.kind != YamlKind::kScalar || value.scalar != "default";
  return field == "grader_flags" &&
         (value.kind != YamlKind::kScalar || !words_of(value.scalar).empty());
}

// The draft of 2023-07 was completed as 2025-09.
sys::Result<Format> format_in(const YamlValue& root) {
  constexpr auto kOf2023 =
      std::to_array<std::string_view>({"2023-07", "2023-07-draft", "2025-09", "2025-09-draft"});
  for (const auto& [field, value] : root.fields) {
    if (field != "problem_format_version") continue;
    const std::string version = TRY(text_in(field, value));
    if (one_of(kOf2023, version)) return Format::k2023;
    if (version != "legacy")
      return wrong_field(field, value, "only legacy, 2023-07 and 2025-09 are supported");
  }
  return Format::kLegacy;
}

// The meaning of all else that a group says depends on the type.
sys::Result<ProblemType> type_in(const YamlValue& root) {
  for (const auto& [field, value] : root.fields) {
    if (field != "type") continue;
    const std::string type = TRY(text_in(field, value));
    if (type == "scoring") return ProblemType::kScoring;
    if (type != "pass-fail") return wrong_field(field, value, "expected pass-fail or scoring");
  }
  return ProblemType::kPassFail;
}

// "0 100", "-inf +inf".
sys::Result<ScoreRange> range_of(const std::string& field, const YamlValue& value) {
  const std::vector<std::string> words = words_of(TRY(text_in(field, value)));
  auto bound = [](const std::string& word) -> std::optional<double> {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (word == "inf" || word == "+inf") return kInfinity;
    return word == "-inf" ? std::optional(-kInfinity) : runtime::parse_score(word);
  };
  const auto least = words.size() == 2 ? bound(words[0]) : std::nullopt;
  const auto most = words.size() == 2 ? bound(words[1]) : std::nullopt;
  if (!least || !most || *least > *most)
    return wrong_field(field, value, "expected two numbers, the smaller one first");
  return ScoreRange{*least, *most};
}

// Nothing: it is none of grading's.
sys::Result<bool> read_group_grading(const std::string& field, const YamlValue& value,
                                     GroupGrading& into) {
  if (field == "on_reject") {
    const std::string word = TRY(text_in(field, value));
    if (word != "break" && word != "continue")
      return wrong_field(field, value, "expected break or continue");
    into.stops_at_reject = word == "break";
  } else if (field == "grading") {
    const std::string word = TRY(text_in(field, value));
    if (word == "custom")
      return wrong_field(field, value, "graders of a package's own are not supported yet");
    if (word != "default") return wrong_field(field, value, "expected default");
  } else if (field == "grader_flags") {
    auto flags = parse_grader_flags(TRY(words_in(field, value)));
    if (!flags) return wrong_field(field, value, flags.error().text());
    into.flags = *flags;
  } else if (field == "accept_score" || field == "reject_score") {
    const double score = TRY(number_in(field, value, -kLargestScore, kLargestScore));
    (field == "accept_score" ? into.accept_score : into.reject_score) = score;
  } else if (field == "range") {
    into.range = TRY(range_of(field, value));
  } else {
    return false;
  }
  return true;
}

}  // namespace

sys::Result<ProblemSettings> read_problem_yaml(std::string_view text) {
  const YamlValue root = TRY(map_in(text));
  if (TRY(format_in(root)) == Format::k2023) return read_problem_2023(root);
  ProblemSettings settings;
  settings.type = TRY(type_in(root));
  for (const auto& [field, value] : root.fields) TRY(read_field(field, value, settings));
  return settings;
}

sys::Result<GroupSettings> read_testdata_yaml(std::string_view text, ProblemType type) {
  constexpr auto kOfScores =
      std::to_array<std::string_view>({"on_reject", "grading", "grader_flags", "range",
                                       "accept_score", "reject_score", "input_validator_flags"});
  const YamlValue root = TRY(map_in(text));
  GroupSettings settings;
  for (const auto& [field, value] : root.fields) {
    if (field == "output_validator_flags" || field == "validator_flags") {
      if (settings.validator_flags)
        return wrong_field(field, value, "validator_flags and output_validator_flags are the same");
      settings.validator_flags = TRY(words_in(field, value));
    } else if (type == ProblemType::kScoring &&
               TRY(read_group_grading(field, value, settings.grading))) {
      continue;
    } else if (!one_of(kOfScores, field)) {
      return wrong_field(field, value, "unknown field");
    } else if (is_of_graders(field, value)) {
      settings.ignored.push_back("testdata.yaml: " + field);
    }
  }
  return settings;
}

}  // namespace cli
