#include "tools/cli/judge/grading.h"

#include <catch2/catch.hpp>

namespace cli {
namespace {

using Catch::Matchers::Contains;
using Names = std::vector<std::string>;
using Item = TestGroup::Item;

Grading grading(const Names& flags, bool stops = false) {
  Grading made;
  made.stops_at_reject = stops;
  made.flags = *parse_grader_flags(flags);
  return made;
}

// data/ with one group of as many tests as there are words.
Graded graded(const Names& flags, const std::vector<Word>& words, bool stops = false) {
  TestGroup inner{"secret", grading(flags, stops), {}};
  TestScores scores;
  for (const Word word : words) {
    inner.items.push_back({false, scores.size()});
    scores.push_back(TestScore{word, static_cast<double>(scores.size() + 1)});
  }
  return grade({{"", grading({}), {{true, 1}}}, inner}, scores);
}

// The sample's test; two subtasks of two tests each, worth 40 and 60.
std::vector<TestGroup> subtasks() {
  Grading small = grading({"min"}, true), large = small;
  small.accept_score = 40;
  large.accept_score = 60;
  return {{"", grading({"ignore_sample"}), {{true, 1}, {true, 2}}},
          {"sample", grading({}), {{false, 0}}},
          {"secret", grading({"first_error", "accept_if_any_accepted"}), {{true, 3}, {true, 4}}},
          {"secret/a", small, {{false, 1}, {false, 2}}},
          {"secret/b", large, {{false, 3}, {false, 4}}}};
}

TestScores results(const std::vector<std::optional<Word>>& words) {
  TestScores scores;
  for (const auto& word : words)
    scores.push_back(word ? std::optional(TestScore{*word, {}}) : std::nullopt);
  return scores;
}

TEST_CASE("the verdict of a group, by the grader's flags", "[judge][grading]") {
  const std::vector<Word> mixed = {Word::kAC, Word::kWA, Word::kTLE, Word::kOLE, Word::kAC};

  CHECK(graded({}, {Word::kAC, Word::kAC}).word == Word::kAC);
  CHECK(graded({}, mixed).word == Word::kTLE);
  CHECK(graded({}, mixed).decisive == 2);
  CHECK(graded({"worst_error"}, {Word::kMLE, Word::kTLE, Word::kRTE}).word == Word::kRTE);
  CHECK(graded({"first_error"}, mixed).word == Word::kWA);
  CHECK(graded({"first_error"}, mixed).decisive == 1);
  CHECK(graded({"always_accept"}, {Word::kWA, Word::kRTE}).word == Word::kAC);
  CHECK(graded({"accept_if_any_accepted"}, mixed).word == Word::kAC);
  CHECK(graded({"accept_if_any_accepted"}, {Word::kWA, Word::kRTE}).word == Word::kRTE);
  CHECK(graded({"first_error", "worst_error"}, mixed).word == Word::kTLE);  // the last one counts
}

TEST_CASE("the score of a group, by the grader's flags", "[judge][grading]") {
  const std::vector<Word> all = {Word::kAC, Word::kAC, Word::kAC};  // with scores 1, 2, 3
  const std::vector<Word> some = {Word::kAC, Word::kWA, Word::kAC};

  CHECK(graded({}, all).score == 6);
  CHECK(graded({"avg"}, all).score == 2);
  CHECK(graded({"min"}, all).score == 1);
  CHECK(graded({"max"}, all).score == 3);
  CHECK(graded({"always_accept"}, some).score == 4);
  CHECK(graded({"always_accept", "min"}, some).score == 0);
}

TEST_CASE("after a rejected test a group that breaks is done", "[judge][grading]") {
  const std::vector<Word> words = {Word::kAC, Word::kWA, Word::kRTE, Word::kAC};

  CHECK(graded({}, words, true).word == Word::kWA);
  CHECK(graded({"always_accept"}, words, true).score == 1);
  CHECK(graded({"always_accept"}, words, false).score == 5);
}

TEST_CASE("tests are asked for as far as they count", "[judge][grading]") {
  const auto groups = subtasks();
  constexpr auto kNone = std::nullopt;

  CHECK(next_test(groups, results({kNone, kNone, kNone, kNone, kNone})) == size_t{0});
  CHECK(next_test(groups, results({Word::kWA, kNone, kNone, kNone, kNone})) == size_t{1});
  CHECK(next_test(groups, results({Word::kAC, Word::kTLE, kNone, kNone, kNone})) == size_t{3});
  CHECK(next_test(groups, results({Word::kAC, Word::kAC, kNone, kNone, kNone})) == size_t{2});
  CHECK_FALSE(next_test(groups, results({Word::kAC, Word::kWA, kNone, Word::kWA, kNone})));
}

TEST_CASE("subtasks: whole ones count, the sample does not", "[judge][grading]") {
  const auto groups = subtasks();
  constexpr auto kNone = std::nullopt;
  const Graded full =
      grade(groups, results({Word::kWA, Word::kAC, Word::kAC, Word::kAC, Word::kAC}));
  const Graded part = grade(groups, results({Word::kAC, Word::kAC, Word::kAC, Word::kWA, kNone}));
  const Graded none = grade(groups, results({Word::kAC, Word::kTLE, kNone, Word::kWA, kNone}));

  CHECK((full.word == Word::kAC && full.score == 100));
  CHECK((part.word == Word::kAC && part.score == 40));
  CHECK((none.word == Word::kTLE && none.score == 0 && none.decisive == size_t{1}));
  REQUIRE(part.groups.size() == 4);
  CHECK((part.groups[0].name == "sample" && part.groups[0].word == Word::kAC));
  CHECK((part.groups[2].name == "secret/a" && part.groups[2].score == 40));
  CHECK((part.groups[3].word == Word::kWA && part.groups[3].score == 0));
  // The tests that were run beyond that change nothing.
  CHECK(grade(groups, results({Word::kAC, Word::kAC, Word::kAC, Word::kWA, Word::kRTE})).word ==
        Word::kAC);
}

TEST_CASE("a validator's score takes the place of accept_score, where it accepts",
          "[judge][grading]") {
  auto groups = subtasks();
  groups[3].grading.reject_score = -5;
  TestScores scores = results({Word::kAC, Word::kAC, Word::kAC, Word::kAC, Word::kAC});
  scores[1]->given = 7;
  CHECK(grade(groups, scores).score == 67);

  scores[1] = TestScore{Word::kWA, 7};
  CHECK(grade(groups, scores).groups[2].score == -5);
}

TEST_CASE("a score outside of its range is the package's mistake", "[judge][grading]") {
  auto groups = subtasks();
  groups[3].grading.range = {0, 39.5};
  const Graded inherited_one =
      grade(groups, results({Word::kAC, Word::kAC, Word::kAC, Word::kWA, std::nullopt}));
  CHECK(inherited_one.complaint.empty());

  groups[3].grading.checks_range = true;
  const Graded beyond =
      grade(groups, results({Word::kAC, Word::kAC, Word::kAC, Word::kWA, std::nullopt}));
  CHECK(beyond.word == Word::kJE);
  CHECK_THAT(beyond.complaint, Contains("data/secret/a: its score 40 is outside of its range"));
}

TEST_CASE("flags that the default grader does not have are refused", "[judge][grading]") {
  CHECK_THAT(parse_grader_flags({"sum", "median"}).error().text(), Contains("\"median\""));
}

TEST_CASE("scores are shown with at most four decimals", "[judge][grading]") {
  CHECK(score_text(100) == "100");
  CHECK(score_text(100.0 / 3) == "33.3333");
  CHECK(score_text(0.5) == "0.5");
  CHECK(score_text(-0.00001) == "0");
}

}  // namespace
}  // namespace cli
