#include "tools/cli/judge/scoring.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace cli {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr double kUsualMost = 100;  // of secret

sys::Error wrong(const char* field, const std::string& why) {
  return sys::Error::because(fmt::format("{}: {}", field, why));
}

// A group by its name; the end where there is none.
auto find_group(const std::vector<TestGroup>& groups, const std::string& name) {
  return std::find_if(groups.begin(), groups.end(),
                      [&name](const TestGroup& group) { return group.name == name; });
}

sys::Result<std::vector<size_t>> required_by(const std::string& name, const GroupScoring& own,
                                             const std::vector<TestGroup>& before) {
  constexpr const char* kField = "require_pass";
  std::vector<size_t> required;
  for (const std::string& other : own.require_pass.value_or(std::vector<std::string>())) {
    if (name == "secret" && other != "sample")
      return wrong(kField, "secret can require sample alone");
    const auto found = find_group(before, other);
    if (found == before.end() || other.empty() || other == "secret")
      return wrong(kField, fmt::format("\"{}\" is no group that comes before this one", other));
    if (found->scoring->aggregation != Aggregation::kPassFail)
      return wrong(kField, fmt::format("\"{}\" does not have pass-fail aggregation", other));
    required.push_back(static_cast<size_t>(found - before.begin()));
  }
  return required;
}

// The most that a test in such a group may give; infinite: unbounded.
double most_of_test(const TestGroup& group) {
  const Scoring& scoring = *group.scoring;
  const bool shares = scoring.aggregation == Aggregation::kSum;
  return shares ? scoring.most / static_cast<double>(group.items.size()) : scoring.most;
}

// Why the validator of a test may not give this; empty: it may.
std::string objection_to(const TestScore& test, Aggregation aggregation, double most) {
  const bool gives = test.given || test.multiplier;
  if (test.word != Word::kAC)
    return test.word == Word::kWA && gives ? "it has a score and was not accepted" : "";
  if (gives && aggregation == Aggregation::kPassFail)
    return "it has a score, in a group with pass-fail aggregation";
  if (aggregation == Aggregation::kPassFail) return "";
  if (test.given && test.multiplier) return "it has score.txt and score_multiplier.txt";
  const bool bounded = std::isfinite(most);
  if (!bounded && test.multiplier) return "it has score_multiplier.txt, of an unbounded score";
  if (!bounded && !test.given) return "it has no score.txt, and its max_score is unbounded";
  if (test.multiplier && (*test.multiplier < 0 || *test.multiplier > 1))
    return "its score_multiplier.txt is not from 0 to 1";
  if (test.given && !is_within(*test.given, {0, most}))
    return fmt::format("its score {} is not from 0 to {}", score_text(*test.given),
                       score_text(most));
  return "";
}

double points_of(const TestScore& test, double most) {
  if (test.given) return *test.given;
  return most * test.multiplier.value_or(1);
}

// One walk through the groups, until a test is missing.
class ScoreWalk {
 public:
  struct Result {
    Word word = Word::kAC;
    double score = 0;
    std::optional<size_t> test;  // the first that failed
  };

  ScoreWalk(const std::vector<TestGroup>& groups, const TestScores& scores)
      : groups_(groups), scores_(scores) {}

  // Nothing: `missing` has not been run. JE: see `complaint`.
  std::optional<Result> group(size_t index) {
    const TestGroup& group = groups_[index];
    const size_t place = judged.size();
    judged.push_back({group.name, Word::kJE, 0});
    std::optional<Result> whole = requirement(*group.scoring);
    if (!whole) whole = items(group);
    if (!whole) return std::nullopt;
    if (!is_within(whole->score, {0, group.scoring->most}) && complaint.empty())
      complaint = fmt::format("data/{}: its score {} is more than its max_score, {}", group.name,
                              score_text(whole->score), score_text(group.scoring->most));
    if (!complaint.empty()) whole->word = Word::kJE;
    judged[place].word = whole->word;
    judged[place].score = whole->score;
    done_[index] = *whole;
    return whole;
  }

  std::vector<GroupScore> judged;
  std::optional<size_t> missing;
  std::string complaint;
  std::optional<size_t> blamed;  // the test that it is about; none: it names a group

 private:
  // How a group that is not run ends: as the first of those that it requires. Nothing: it is run.
  std::optional<Result> requirement(const Scoring& scoring) const {
    for (const size_t other : scoring.required) {
      const Result& its = done_.at(other);
      if (its.word != Word::kAC) return Result{its.word, 0, its.test};
    }
    return std::nullopt;
  }

  std::optional<Result> items(const TestGroup& group) {
    const Aggregation aggregation = group.scoring->aggregation;
    Result whole;
    double sum = 0, least = kUnbounded;
    for (const TestGroup::Item& item : group.items) {
      const std::optional<Result> result =
          item.is_group ? this->group(item.index) : test(item.index, group);
      if (!result) return std::nullopt;
      sum += result->score;
      least = std::min(least, result->score);
      if (whole.word == Word::kAC) {
        whole.word = result->word;
        whole.test = result->test;
      }
      if (!complaint.empty()) return whole;
      const bool failed = aggregation == Aggregation::kPassFail && whole.word != Word::kAC;
      const bool is_least = aggregation == Aggregation::kLeast && least <= 0;
      if (failed || is_least) break;
    }
    const bool passed = whole.word == Word::kAC;
    whole.score = aggregation == Aggregation::kSum     ? sum
                  : aggregation == Aggregation::kLeast ? least
                  : passed                             ? group.scoring->most
                                                       : 0;
    return whole;
  }

  std::optional<Result> test(size_t index, const TestGroup& group) {
    const std::optional<TestScore>& score = scores_[index];
    if (!score) {
      missing = index;
      return std::nullopt;
    }
    const double most = most_of_test(group);
    const std::string objection = objection_to(*score, group.scoring->aggregation, most);
    if (!objection.empty()) {
      complaint = objection;
      blamed = index;
    }
    if (score->word != Word::kAC) return Result{score->word, 0, index};
    const bool counts = group.scoring->aggregation != Aggregation::kPassFail;
    return Result{Word::kAC, counts ? points_of(*score, most) : 0, {}};
  }

  const std::vector<TestGroup>& groups_;
  const TestScores& scores_;
  std::map<size_t, Result> done_;  // by group
};

}  // namespace

sys::Result<Scoring> scoring_of(const std::string& name, const GroupScoring& own,
                                const std::vector<TestGroup>& before) {
  const bool is_secret = name == "secret", is_root = name.empty();
  const bool has_points = !is_root && name != "sample";
  if (!has_points) {
    const char* given = own.max_score      ? "max_score"
                        : own.aggregation  ? "score_aggregation"
                        : own.require_pass ? "require_pass"
                                           : nullptr;
    if (given != nullptr) return wrong(given, "is for secret and its groups");
    return is_root ? Scoring{Aggregation::kSum, kUnbounded, {}} : Scoring{{}, 0, {}};
  }
  Scoring scoring;
  scoring.aggregation =
      own.aggregation.value_or(is_secret ? Aggregation::kSum : Aggregation::kPassFail);
  scoring.most = own.max_score.value_or(is_secret ? kUsualMost : kUnbounded);
  const bool bounded = std::isfinite(scoring.most);
  if (!bounded && scoring.aggregation == Aggregation::kPassFail)
    return wrong("max_score", "a group with pass-fail aggregation needs one");
  if (!is_secret) {
    const Scoring& secret = *find_group(before, "secret")->scoring;
    if (!bounded && std::isfinite(secret.most))
      return wrong("max_score", "a group of a secret that has one needs one");
    if (secret.aggregation == Aggregation::kPassFail &&
        scoring.aggregation != Aggregation::kPassFail)
      return wrong("score_aggregation", "secret has pass-fail, so its groups can have no other");
  }
  scoring.required = TRY(required_by(name, own, before));
  return scoring;
}

std::optional<size_t> next_scored_test(const std::vector<TestGroup>& groups,
                                       const TestScores& scores) {
  ScoreWalk walk(groups, scores);
  return walk.group(0) ? std::nullopt : walk.missing;
}

Graded score_groups(const std::vector<TestGroup>& groups, const TestScores& scores) {
  ScoreWalk walk(groups, scores);
  const std::optional<ScoreWalk::Result> whole = walk.group(0);
  Graded graded;
  if (!whole) return graded;
  graded.word = whole->word;
  graded.score = whole->score;
  graded.groups.assign(walk.judged.begin() + 1, walk.judged.end());
  graded.complaint = std::move(walk.complaint);
  if (graded.word == Word::kJE) graded.decisive = walk.blamed;
  if (graded.word == Word::kAC || graded.word == Word::kJE) return graded;
  graded.decisive = whole->test;
  if (graded.score > 0) {
    graded.word = Word::kPAC;
    graded.decisive.reset();
  }
  return graded;
}

}  // namespace cli
