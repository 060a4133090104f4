#pragma once
// problem.yaml, test_group.yaml and TEST.yaml of the problem package format from its draft 2023-07
// on, which was completed as 2025-09. Errors name the field; the caller adds the file. Pure.

#include "tools/cli/judge/package/problem_yaml.h"
#include "tools/cli/judge/package/yaml.h"

namespace cli {

sys::Result<ProblemSettings> read_problem_2023(const YamlValue& root);

// A group's file, also under its old name, and that of a single test. What a group says of scores
// is for problems of type scoring.
enum class Scope : uint8_t { kGroup, kTest };
sys::Result<GroupSettings> read_test_settings(std::string_view text, Scope scope, ProblemType type);

}  // namespace cli
