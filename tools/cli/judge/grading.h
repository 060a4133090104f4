#pragma once
// Grading: verdict and score of a submission from the results of its tests, group by group, as the
// default grader of the problem package format has it (`type: scoring` in version legacy; from
// 2023-07 on groups have a Scoring, and scoring.h decides). Pure.

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/result.h"
#include "tools/cli/judge/words.h"

namespace cli {

enum class VerdictMode : uint8_t { kWorstError, kFirstError, kAlwaysAccept };
enum class ScoreMode : uint8_t { kSum, kAverage, kLeast, kMost };

// grader_flags of a group.
struct GraderFlags {
  VerdictMode verdicts = VerdictMode::kWorstError;
  ScoreMode scores = ScoreMode::kSum;
  bool ignores_sample = false;  // only what `secret` gives counts; of the outermost group alone
  bool any_accepted = false;    // one that is accepted is enough
  bool operator==(const GraderFlags&) const = default;
};
// The error is a sentence about the flag.
sys::Result<GraderFlags> parse_grader_flags(const std::vector<std::string>& words);

struct ScoreRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool operator==(const ScoreRange&) const = default;
};

// How a group is graded: its testdata.yaml, and for what that does not say, the group around it.
struct Grading {
  bool stops_at_reject = true;  // on_reject: break
  GraderFlags flags;
  double accept_score = 1, reject_score = 0;  // of tests, unless the validator gives a score
  ScoreRange range;
  bool checks_range = false;  // it is the group's own: who is accepted beyond it is a mistake
  bool operator==(const Grading&) const = default;
};
struct GroupGrading {
  std::optional<bool> stops_at_reject;
  std::optional<GraderFlags> flags;
  std::optional<double> accept_score, reject_score;
  std::optional<ScoreRange> range;
};
Grading inherited(const Grading& outer, const GroupGrading& own);

enum class Aggregation : uint8_t { kPassFail, kSum, kLeast };

// How a group is scored by the format from 2023-07 on.
struct Scoring {
  Aggregation aggregation = Aggregation::kPassFail;
  double most = std::numeric_limits<double>::infinity();  // max_score; infinite: unbounded
  std::vector<size_t> required;  // groups before it, by index: without all of them it is not run
  bool operator==(const Scoring&) const = default;
};

// A group never is without items.
struct TestGroup {
  struct Item {
    bool is_group = false;
    size_t index = 0;  // among the groups, or among the tests
  };
  std::string name;  // "secret/small"; empty: data/, the first of all
  Grading grading;
  std::vector<Item> items;              // in the order in which they are judged
  std::optional<Scoring> scoring = {};  // of all groups, or of none
};

struct TestScore {
  Word word = Word::kJE;
  std::optional<double> given;            // by the validator
  std::optional<double> multiplier = {};  // of the most that there is
};
using TestScores = std::vector<std::optional<TestScore>>;  // by test; none: not run

struct GroupScore {
  std::string name;
  Word word = Word::kJE;
  double score = 0;
};

struct Graded {
  Word word = Word::kJE;  // PAC: it has a score, and a test that failed (2023-07 on)
  double score = 0;
  std::vector<GroupScore> groups;  // that were judged, outer ones first; without data/ itself
  // The test that stands for the verdict, where it is neither AC nor PAC, or for the complaint.
  std::optional<size_t> decisive;
  std::string complaint;  // what is wrong with the package; then `word` is JE
};

// The first test that is still to be run; none: the result is certain.
std::optional<size_t> next_test(const std::vector<TestGroup>& groups, const TestScores& scores);
// Grades the tests that next_test() asked for; results of others make no difference.
Graded grade(const std::vector<TestGroup>& groups, const TestScores& scores);

// Tells whether a score lies in the range; sums of decimal fractions are not exact.
bool is_within(double score, const ScoreRange& range);
// "100", "33.3333": at most four decimals.
std::string score_text(double score);

}  // namespace cli
