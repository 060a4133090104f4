#include "tools/cli/judge/grading.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "tools/cli/judge/scoring.h"

namespace cli {
namespace {

Word worst_of(const std::vector<Word>& words) {
  constexpr std::array kWorstFirst = {Word::kJE,  Word::kCE,  Word::kRTE, Word::kMLE,
                                      Word::kTLE, Word::kOLE, Word::kWA};
  for (const Word worst : kWorstFirst) {
    if (std::find(words.begin(), words.end(), worst) != words.end()) return worst;
  }
  return Word::kAC;
}

Word verdict_of(const std::vector<Word>& words, const GraderFlags& flags) {
  const bool has_accepted = std::find(words.begin(), words.end(), Word::kAC) != words.end();
  if (flags.any_accepted && has_accepted) return Word::kAC;
  switch (flags.verdicts) {
    case VerdictMode::kWorstError:
      return worst_of(words);
    case VerdictMode::kFirstError: {
      auto first = std::find_if(words.begin(), words.end(), [](Word w) { return w != Word::kAC; });
      return first == words.end() ? Word::kAC : *first;
    }
    case VerdictMode::kAlwaysAccept:
      break;
  }
  return Word::kAC;
}

double total_of(const std::vector<double>& scores, ScoreMode mode) {
  const double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
  switch (mode) {
    case ScoreMode::kSum:
      break;
    case ScoreMode::kAverage:
      return sum / static_cast<double>(scores.size());
    case ScoreMode::kLeast:
      return *std::min_element(scores.begin(), scores.end());
    case ScoreMode::kMost:
      return *std::max_element(scores.begin(), scores.end());
  }
  return sum;
}

// One walk through the groups, until a test is missing.
class Walk {
 public:
  struct Result {
    Word word = Word::kJE;
    double score = 0;
    std::optional<size_t> test;  // that stands for the verdict
  };

  Walk(const std::vector<TestGroup>& groups, const TestScores& scores)
      : groups_(groups), scores_(scores) {}

  // Nothing: `missing` has not been run.
  std::optional<Result> group(size_t index) {
    const TestGroup& group = groups_[index];
    const Grading& grading = group.grading;
    const size_t place = judged.size();
    judged.push_back({group.name, Word::kJE, 0});
    std::vector<Result> results;
    for (const TestGroup::Item& item : group.items) {
      const std::optional<Result> result =
          item.is_group ? this->group(item.index) : test(item.index, grading);
      if (!result) return std::nullopt;
      if (grading.flags.ignores_sample) results.clear();
      results.push_back(*result);
      const bool goes_on = !grading.stops_at_reject || grading.flags.ignores_sample;
      if (result->word != Word::kAC && !goes_on) break;
    }
    const Result whole = aggregate(results, grading);
    judged[place].word = whole.word;
    judged[place].score = whole.score;
    const bool is_beyond = grading.checks_range && !is_within(whole.score, grading.range);
    if (whole.word == Word::kAC && is_beyond && complaint.empty()) {
      complaint = fmt::format("data/{}: its score {} is outside of its range, {} to {}", group.name,
                              score_text(whole.score), score_text(grading.range.least),
                              score_text(grading.range.most));
    }
    return whole;
  }

  std::vector<GroupScore> judged;
  std::optional<size_t> missing;
  std::string complaint;

 private:
  std::optional<Result> test(size_t index, const Grading& grading) {
    const std::optional<TestScore>& score = scores_[index];
    if (!score) {
      missing = index;
      return std::nullopt;
    }
    if (score->word != Word::kAC) return Result{score->word, grading.reject_score, index};
    return Result{score->word, score->given.value_or(grading.accept_score), std::nullopt};
  }

  static Result aggregate(const std::vector<Result>& results, const Grading& grading) {
    std::vector<Word> words;
    std::vector<double> scores;
    for (const Result& result : results) {
      words.push_back(result.word);
      scores.push_back(result.score);
    }
    Result whole{verdict_of(words, grading.flags), total_of(scores, grading.flags.scores), {}};
    if (whole.word == Word::kAC) return whole;
    auto same = std::find_if(results.begin(), results.end(),
                             [&whole](const Result& r) { return r.word == whole.word; });
    whole.test = same->test;
    return whole;
  }

  const std::vector<TestGroup>& groups_;
  const TestScores& scores_;
};

}  // namespace

sys::Result<GraderFlags> parse_grader_flags(const std::vector<std::string>& words) {
  GraderFlags flags;
  for (const std::string& word : words) {
    if (word == "worst_error" || word == "no_errors") {
      flags.verdicts = VerdictMode::kWorstError;
    } else if (word == "first_error") {
      flags.verdicts = VerdictMode::kFirstError;
    } else if (word == "always_accept") {
      flags.verdicts = VerdictMode::kAlwaysAccept;
    } else if (word == "sum") {
      flags.scores = ScoreMode::kSum;
    } else if (word == "avg") {
      flags.scores = ScoreMode::kAverage;
    } else if (word == "min") {
      flags.scores = ScoreMode::kLeast;
    } else if (word == "max") {
      flags.scores = ScoreMode::kMost;
    } else if (word == "ignore_sample") {
      flags.ignores_sample = true;
    } else if (word == "accept_if_any_accepted") {
      flags.any_accepted = true;
    } else {
      return sys::Error::because(fmt::format("\"{}\" is not a flag of the default grader", word));
    }
  }
  return flags;
}

Grading inherited(const Grading& outer, const GroupGrading& own) {
  Grading grading;
  grading.stops_at_reject = own.stops_at_reject.value_or(outer.stops_at_reject);
  grading.flags = own.flags.value_or(outer.flags);
  grading.accept_score = own.accept_score.value_or(outer.accept_score);
  grading.reject_score = own.reject_score.value_or(outer.reject_score);
  grading.range = own.range.value_or(outer.range);
  grading.checks_range = own.range.has_value();
  return grading;
}

std::optional<size_t> next_test(const std::vector<TestGroup>& groups, const TestScores& scores) {
  if (groups.front().scoring) return next_scored_test(groups, scores);
  Walk walk(groups, scores);
  return walk.group(0) ? std::nullopt : walk.missing;
}

Graded grade(const std::vector<TestGroup>& groups, const TestScores& scores) {
  if (groups.front().scoring) return score_groups(groups, scores);
  Walk walk(groups, scores);
  const std::optional<Walk::Result> whole = walk.group(0);
  Graded graded;
  if (!whole) return graded;
  graded.word = whole->word;
  graded.score = whole->score;
  graded.decisive = whole->test;
  graded.groups.assign(walk.judged.begin() + 1, walk.judged.end());
  graded.complaint = std::move(walk.complaint);
  if (!graded.complaint.empty()) graded.word = Word::kJE;
  return graded;
}

bool is_within(double score, const ScoreRange& range) {
  auto slack = [](double bound) {
    return std::isfinite(bound) ? 1e-9 * std::abs(bound) + 1e-9 : 0;
  };
  return score >= range.least - slack(range.least) && score <= range.most + slack(range.most);
}

std::string score_text(double score) {
  if (!std::isfinite(score)) return score > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{:.4f}", score);
  text.resize(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

}  // namespace cli
