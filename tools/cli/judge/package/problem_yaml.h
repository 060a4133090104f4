#pragma once
// The fields of problem.yaml, and those of testdata.yaml in version "legacy" of the problem package
// format (problem_2023.h: later ones). Errors name the field, as in "limits.memory: ..."; the
// caller adds the file. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/result.h"
#include "tools/cli/judge/grading.h"
#include "tools/cli/judge/scoring.h"

namespace cli {

enum class Format : uint8_t { kLegacy, k2023 };

struct ProblemLimits {
  double time_multiplier = 5;  // slowest accepted submission to time limit
  std::optional<double> time_limit_s;
  std::optional<double> time_resolution_s;   // a derived time limit is a multiple of it
  double memory_mib = 2048, output_mib = 8;  // of a submission
  double validation_time_s = 60, validation_memory_mib = 2048, validation_output_mib = 8;
  bool operator==(const ProblemLimits&) const = default;
};

enum class ProblemType : uint8_t { kPassFail, kScoring };

struct ProblemSettings {
  Format format = Format::kLegacy;
  std::string name;  // empty: it is in the problem's statement
  ProblemType type = ProblemType::kPassFail;
  bool less_is_better = false;     // of scores
  bool custom_validation = false;  // by 2023 there is a validator where it has a folder
  bool interactive = false;        // the validator talks with the program
  bool validator_scores = false;
  unsigned passes = 1;  // at most, of each test; the validator makes the input of the next one
  std::vector<std::string> validator_flags;
  ProblemLimits limits;
  std::vector<std::string> ignored;  // fields that are understood and make no difference here
};

struct GroupSettings {
  std::optional<std::vector<std::string>> validator_flags;  // of the output validator
  std::optional<std::vector<std::string>> argv;             // of the submission
  GroupGrading grading;                                     // of a scoring problem
  GroupScoring scoring;                                     // of one from 2023-07 on
  std::vector<std::string> ignored;  // fields that would make a difference elsewhere
};

sys::Result<ProblemSettings> read_problem_yaml(std::string_view text);
// In a pass-fail problem the first test that fails decides the verdict, so fields about grading
// make no difference.
sys::Result<GroupSettings> read_testdata_yaml(std::string_view text, ProblemType type);

}  // namespace cli
