#include "tools/cli/judge/package/problem_2023.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "tools/cli/judge/package/problem_limits.h"
#include "tools/cli/judge/package/yaml_fields.h"

namespace cli {
namespace {

using YamlKind = YamlValue::Kind;

constexpr double kMostPasses = 1000;

// Fields that say nothing about judging.
constexpr std::array<std::string_view, 9> kMetadata2023 = {
    "problem_format_version", "type",          "uuid", "version", "credits", "source", "license",
    "rights_owner",           "embargo_until",
};

struct Types {
  bool scoring = false, pass_fail = false, multi_pass = false, interactive = false;
};

// The member that notes the word; null: there is no such type.
bool* place_of(const std::string& word, Types& types) {
  if (word == "scoring") return &types.scoring;
  if (word == "pass-fail") return &types.pass_fail;
  if (word == "multi-pass") return &types.multi_pass;
  return word == "interactive" ? &types.interactive : nullptr;
}

// Why they cannot be together, or not at all; empty: they can.
std::string_view objection(const Types& types) {
  if (types.scoring && types.pass_fail) return "pass-fail and scoring exclude each other";
  return "";
}

sys::Result<Types> read_types(const YamlValue& value) {
  Types types;
  const bool is_one = value.kind == YamlKind::kScalar;
  const std::vector<std::string> words =
      is_one ? std::vector{value.scalar} : TRY(strings_in("type", value));
  if (words.empty()) return wrong_field("type", value, "expected at least one word");
  for (const std::string& word : words) {
    if (word == "submit-answer")
      return wrong_field("type", value, "submit-answer is not supported yet");
    bool* said = place_of(word, types);
    if (said == nullptr)
      return wrong_field("type", value, "expected pass-fail, scoring, interactive or multi-pass");
    if (std::exchange(*said, true))
      return wrong_field("type", value, fmt::format("{} is given twice", word));
  }
  if (const auto why = objection(types); !why.empty()) return wrong_field("type", value, why);
  return types;
}

sys::Result<Types> types_in(const YamlValue& root) {
  for (const auto& [field, value] : root.fields) {
    if (field == "type") return read_types(value);
  }
  return Types();
}

sys::Result<void> read_multipliers(const std::string& field, const YamlValue& value,
                                   ProblemSettings& into) {
  TRY(expect_map(field, value));
  for (const auto& [name, each] : value.fields) {
    const std::string its = fmt::format("{}.{}", field, name);
    if (name != "ac_to_time_limit" && name != "time_limit_to_tle")
      return wrong_field(its, each, "unknown field");
    const double factor = TRY(number_in(its, each, 1, 1000));
    if (name == "ac_to_time_limit") {
      into.limits.time_multiplier = factor;
    } else {
      into.ignored.push_back(its);
    }
  }
  return {};
}

sys::Result<void> read_limit_2023(const std::string& name, const YamlValue& value,
                                  ProblemSettings& into) {
  const std::string field = "limits." + name;
  if (name == "time_multipliers") return read_multipliers(field, value, into);
  if (name == "validation_passes") {
    if (into.passes == 1) return wrong_field(field, value, "is for problems of type multi-pass");
    into.passes = static_cast<unsigned>(TRY(number_in(field, value, 2, kMostPasses)));
    return {};
  }
  if (name == "time_resolution") {
    into.limits.time_resolution_s = TRY(number_in(field, value, 0.001, 3600));
    return {};
  }
  if (!TRY(read_common_limit(name, value, into))) return wrong_field(field, value, "unknown field");
  return {};
}

sys::Result<void> read_field_2023(const std::string& field, const YamlValue& value,
                                  ProblemSettings& into) {
  if (field == "name") {
    into.name = TRY(name_in(value));
  } else if (field == "limits") {
    TRY(expect_map(field, value));
    for (const auto& [name, limit] : value.fields) TRY(read_limit_2023(name, limit, into));
  } else if (field == "languages") {
    if (value.kind != YamlKind::kScalar || value.scalar != "all") into.ignored.push_back(field);
  } else if (field == "allow_file_writing" || field == "constants") {
    into.ignored.push_back(field);
  } else if (field != "keywords" && !one_of(kMetadata2023, field)) {
    return wrong_field(field, value, "unknown field");
  }
  return {};
}

// Drafts had one string of words.
sys::Result<std::vector<std::string>> arguments_in(const std::string& field,
                                                   const YamlValue& value) {
  return value.kind == YamlKind::kScalar ? words_in(field, value) : strings_in(field, value);
}

// Whole, as the format wants it; or infinite.
sys::Result<double> max_score_in(const std::string& field, const YamlValue& value) {
  constexpr double kLargest = 1e9;
  if (value.kind == YamlKind::kScalar && value.scalar == "unbounded")
    return std::numeric_limits<double>::infinity();
  const bool digits = value.kind == YamlKind::kScalar &&
                      value.scalar.find_first_not_of("0123456789") == std::string::npos;
  const auto most = digits ? number_between(value.scalar, 0, kLargest) : std::nullopt;
  if (!most)
    return wrong_field(field, value, "expected a whole number from 0 to 1000000000 or unbounded");
  return *most;
}

sys::Result<Aggregation> aggregation_in(const std::string& field, const YamlValue& value) {
  const std::string word = value.kind == YamlKind::kScalar ? value.scalar : "";
  if (word == "pass-fail") return Aggregation::kPassFail;
  if (word == "sum") return Aggregation::kSum;
  if (word == "min") return Aggregation::kLeast;
  return wrong_field(field, value, "expected pass-fail, sum or min");
}

// False: it is none of scoring's.
sys::Result<bool> read_scoring(const std::string& field, const YamlValue& value,
                               GroupScoring& into) {
  if (field == "max_score") {
    into.max_score = TRY(max_score_in(field, value));
  } else if (field == "score_aggregation") {
    into.aggregation = TRY(aggregation_in(field, value));
  } else if (field == "require_pass") {
    into.require_pass =
        value.kind == YamlKind::kScalar ? std::vector{value.scalar} : TRY(strings_in(field, value));
  } else {
    return false;
  }
  return true;
}

}  // namespace

sys::Result<ProblemSettings> read_problem_2023(const YamlValue& root) {
  ProblemSettings settings;
  settings.format = Format::k2023;
  settings.limits.time_multiplier = 2;
  settings.limits.time_resolution_s = 1;
  const Types types = TRY(types_in(root));
  settings.interactive = types.interactive;
  if (types.scoring) settings.type = ProblemType::kScoring;
  settings.validator_scores = types.scoring;
  if (types.multi_pass) settings.passes = 2;
  for (const auto& [field, value] : root.fields) TRY(read_field_2023(field, value, settings));
  return settings;
}

sys::Result<GroupSettings> read_test_settings(std::string_view text, Scope scope,
                                              ProblemType type) {
  constexpr std::array<std::string_view, 6> kUnused = {
      "input_validator_args", "input_visualizer_args", "output_visualizer_args",
      "full_feedback",        "input_validator_flags", "hint"};
  const YamlValue root = TRY(map_in(text));
  GroupSettings settings;
  for (const auto& [field, value] : root.fields) {
    if (field == "output_validator_args" || field == "output_validator_flags") {
      if (settings.validator_flags)
        return wrong_field(field, value, "is said under another name, too");
      settings.validator_flags = TRY(arguments_in(field, value));
    } else if (field == "args") {
      settings.argv = TRY(arguments_in(field, value));
    } else if (scope == Scope::kGroup && TRY(read_scoring(field, value, settings.scoring))) {
      if (type != ProblemType::kScoring)
        return wrong_field(field, value, "is for problems of type scoring");
    } else if (field == "static_validation_score" || field == "static_validator_args") {
      return wrong_field(field, value, "static validators are not supported yet");
    } else if (field != "description" && !one_of(kUnused, field)) {
      return wrong_field(field, value, "unknown field");
    }
  }
  return settings;
}

}  // namespace cli
