#pragma once
// Scoring of the problem package format from 2023-07 on: the scores in a group's test_group.yaml,
// checked against the other groups; score and verdict of a submission from the results of its
// tests. grading.h calls it, and has the values. Pure.

#include <optional>
#include <string>
#include <vector>

#include "sandbox/sys/result.h"
#include "tools/cli/judge/grading.h"

namespace cli {

// The fields of a test_group.yaml, as far as they are there.
struct GroupScoring {
  std::optional<double> max_score;  // infinite: unbounded
  std::optional<Aggregation> aggregation;
  std::optional<std::vector<std::string>> require_pass;
};

// How the group `name` is scored: "sample", "secret", "secret/small"; "" is data/ itself. `before`:
// the groups that come before it, secret among them. The error begins with the field.
sys::Result<Scoring> scoring_of(const std::string& name, const GroupScoring& own,
                                const std::vector<TestGroup>& before);

// next_test() and grade() of groups that have a Scoring. The verdict is that of the first test that
// failed, or PAC where there are points all the same.
std::optional<size_t> next_scored_test(const std::vector<TestGroup>& groups,
                                       const TestScores& scores);
Graded score_groups(const std::vector<TestGroup>& groups, const TestScores& scores);

}  // namespace cli
