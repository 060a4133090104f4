// Scoring of the format from 2023-07 on: what groups may say, and what results are worth.

#include "tools/cli/judge/scoring.h"

#include <cmath>

#include "tests/unit/tools/cli/judge/fixture.h"

namespace cli {
namespace {

using Catch::Matchers::Contains;
using Names = std::vector<std::string>;
using Item = TestGroup::Item;

const std::string kScoring = "problem_format_version: 2023-07\ntype: scoring\n";
constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// data/ with secret alone, of as many tests as there are scores.
std::vector<TestGroup> secret_of(Scoring scoring, size_t tests) {
  TestGroup secret{"secret", {}, {}, std::move(scoring)};
  for (size_t i = 0; i < tests; ++i) secret.items.push_back({false, i});
  return {{"", {}, {{true, 1}}, *scoring_of("", {}, {})}, secret};
}

Graded scored(Aggregation aggregation, double most, const std::vector<TestScore>& tests) {
  return grade(secret_of({aggregation, most, {}}, tests.size()), {tests.begin(), tests.end()});
}

// A sample; groups of 30 (pass-fail), 50 (sum) and 20 points (min), the last after the first.
std::vector<TestGroup> three_groups() {
  return {{"", {}, {{true, 1}, {true, 2}}, Scoring{Aggregation::kSum, kUnbounded, {}}},
          {"sample", {}, {{false, 0}}, Scoring{Aggregation::kPassFail, 0, {}}},
          {"secret", {}, {{true, 3}, {true, 4}, {true, 5}}, Scoring{Aggregation::kSum, 100, {}}},
          {"secret/1", {}, {{false, 1}, {false, 2}}, Scoring{Aggregation::kPassFail, 30, {}}},
          {"secret/2", {}, {{false, 3}, {false, 4}}, Scoring{Aggregation::kSum, 50, {}}},
          {"secret/3", {}, {{false, 5}, {false, 6}}, Scoring{Aggregation::kLeast, 20, {3}}}};
}

// The tests that are run, and how it ends, of tests with these words.
struct Run {
  std::vector<size_t> tests;
  Graded graded;
};
Run run(const std::vector<Word>& words) {
  const std::vector<TestGroup> groups = three_groups();
  TestScores scores(words.size());
  Run made;
  while (const auto next = next_test(groups, scores)) {
    made.tests.push_back(*next);
    scores[*next] = TestScore{words[*next], {}};
  }
  made.graded = grade(groups, scores);
  return made;
}

constexpr Word kAC = Word::kAC, kWA = Word::kWA, kTLE = Word::kTLE;

TEST_CASE("groups add up; what cannot change the score is not run", "[judge][scoring]") {
  const Run all = run({kAC, kAC, kAC, kAC, kAC, kAC, kAC});
  CHECK(all.graded.word == kAC);
  CHECK(all.graded.score == 100);

  const Run half = run({kAC, kAC, kAC, kTLE, kAC, kWA, kAC});
  CHECK(half.graded.word == Word::kPAC);
  CHECK(half.graded.score == 55);
  CHECK(half.tests == std::vector<size_t>{0, 1, 2, 3, 4, 5});

  const Run none = run({kAC, kWA, kAC, kWA, kTLE, kAC, kAC});
  CHECK(none.graded.word == kWA);
  CHECK(none.graded.decisive == 1);
  CHECK(none.graded.score == 0);
  CHECK(none.tests == std::vector<size_t>{0, 1, 3, 4});
  REQUIRE(none.graded.groups.size() == 5);
  CHECK(none.graded.groups[4].name == "secret/3");
  CHECK(none.graded.groups[4].word == kWA);
}

TEST_CASE("samples give no points, and a failed one is no accepted submission",
          "[judge][scoring]") {
  const Graded graded = run({kWA, kAC, kAC, kAC, kAC, kAC, kAC}).graded;

  CHECK(graded.word == Word::kPAC);
  CHECK(graded.score == 100);
}

TEST_CASE("a group that requires one that was not run is not run either", "[judge][scoring]") {
  std::vector<TestGroup> groups = three_groups();
  groups[4].scoring->aggregation = Aggregation::kPassFail;
  groups[4].scoring->required = {3};
  groups[5].scoring->required = {4};
  TestScores scores(7);
  for (const size_t i : {0, 2}) scores[i] = TestScore{kAC, {}};
  scores[1] = TestScore{kTLE, {}};

  CHECK_FALSE(next_test(groups, scores));
  const Graded graded = grade(groups, scores);
  CHECK(graded.word == kTLE);
  CHECK(graded.groups.back().word == kTLE);
}

TEST_CASE("what a validator gives takes the place of the maximum, or a part of it",
          "[judge][scoring]") {
  const TestScore all{kAC, {}}, two{kAC, 2}, half{kAC, {}, 0.5}, failed{kTLE, {}};

  CHECK(scored(Aggregation::kSum, 30, {all, two, half}).score == 17);
  CHECK(scored(Aggregation::kSum, 30, {all, failed, half}).score == 15);
  CHECK(scored(Aggregation::kLeast, 30, {all, half}).score == 15);
  CHECK(scored(Aggregation::kLeast, 30, {all, half, two}).score == 2);
  CHECK(scored(Aggregation::kPassFail, 30, {all, all}).score == 30);
  CHECK(scored(Aggregation::kPassFail, 30, {all, failed}).score == 0);
  CHECK(scored(Aggregation::kSum, kUnbounded, {{kAC, 1e6}, {kAC, 5}}).score == 1000005);
}

TEST_CASE("what a validator may not give is a mistake of the package's", "[judge][scoring]") {
  struct Case {
    TestScore test;
    Aggregation aggregation;
    double most;
    const char* complaint;
  };
  constexpr Aggregation kSum = Aggregation::kSum, kPassFail = Aggregation::kPassFail;
  const Case cases[] = {
      {{kAC, 3}, kPassFail, 10, "in a group with pass-fail aggregation"},
      {{kAC, {}, 0.5}, kPassFail, 10, "in a group with pass-fail aggregation"},
      {{kWA, 0}, kSum, 10, "it has a score and was not accepted"},
      {{kAC, 1, 1}, kSum, 10, "it has score.txt and score_multiplier.txt"},
      {{kAC, {}, 1.5}, kSum, 10, "its score_multiplier.txt is not from 0 to 1"},
      {{kAC, -1}, kSum, 10, "its score -1 is not from 0 to 10"},
      {{kAC, 10.1}, kSum, 10, "its score 10.1 is not from 0 to 10"},
      {{kAC, {}}, kSum, kUnbounded, "it has no score.txt, and its max_score is unbounded"},
      {{kAC, {}, 0.5}, kSum, kUnbounded, "it has score_multiplier.txt, of an unbounded score"},
  };
  for (const Case& each : cases) {
    const Graded graded = scored(each.aggregation, each.most, {each.test});
    INFO(each.complaint);
    CHECK(graded.word == Word::kJE);
    CHECK_THAT(graded.complaint, Contains(each.complaint));
    CHECK(graded.decisive == 0);
  }
  CHECK(scored(kSum, 10, {{kTLE, 5}}).word == kTLE);  // the program's own end
}

TEST_CASE("groups that give more than secret may are a mistake", "[judge][scoring]") {
  std::vector<TestGroup> groups = three_groups();
  groups[2].scoring->most = 99;
  const TestScores scores(7, TestScore{kAC, {}});

  const Graded graded = grade(groups, scores);

  CHECK(graded.word == Word::kJE);
  CHECK(graded.complaint == "data/secret: its score 100 is more than its max_score, 99");
  CHECK_FALSE(graded.decisive);
}

TEST_CASE("a package's groups, by their files", "[judge][package][scoring]") {
  PackageFolder folder;
  folder.file("problem.yaml", kScoring).test("data/sample/1");
  folder.file("data/sample/test_group.yaml", "full_feedback: true\n");
  folder.file("data/secret/test_group.yaml", "args: [x]\nrequire_pass: sample\n");
  folder.file("data/secret/a/test_group.yaml", "max_score: 40\n");
  folder.file("data/secret/b/test_group.yaml",
              "max_score: 60\nscore_aggregation: sum\nrequire_pass: [sample, secret/a]\n");
  folder.test("data/secret/a/2").test("data/secret/a/1/x").test("data/secret/b/1");
  folder.file("submissions/submissions.yaml", "mixed/x.py: {score: [10, 20]}\n");
  folder.file("submissions/mixed/x.py", "");

  const Package package = folder.read();

  Names names, tests;
  for (const TestGroup& group : package.groups) names.push_back(group.name);
  for (const PackageTest& test : package.tests) tests.push_back(test.name);
  CHECK(names == Names{"", "sample", "secret", "secret/a", "secret/b"});
  CHECK(tests == Names{"sample/1", "secret/a/1/x", "secret/a/2", "secret/b/1"});
  CHECK(package.groups[0].grading.range == ScoreRange{0, 100});
  CHECK(*package.groups[2].scoring == Scoring{Aggregation::kSum, 100, {1}});
  CHECK(*package.groups[3].scoring == Scoring{Aggregation::kPassFail, 40, {}});
  CHECK(*package.groups[4].scoring == Scoring{Aggregation::kSum, 60, {1, 3}});
  CHECK(package.groups[3].items.size() == 2);
  CHECK(package.tests[3].argv == Names{"x"});
  CHECK(package.settings.validator_scores);
  CHECK(package.examples[0].score == ScoreRange{10, 20});
  CHECK(package.ignored.empty());
}

TEST_CASE("without groups, all of secret is scored as one", "[judge][package][scoring]") {
  PackageFolder folder;
  folder.file("problem.yaml", kScoring).test("data/secret/1").test("data/secret/deep/2");
  folder.file("data/secret/test_group.yaml", "max_score: unbounded\nscore_aggregation: min\n");

  const Package package = folder.read();

  REQUIRE(package.groups.size() == 2);
  CHECK(package.groups[1].items.size() == 2);
  CHECK(*package.groups[1].scoring == Scoring{Aggregation::kLeast, kUnbounded, {}});
}

TEST_CASE("what is wrong with groups of a scoring problem is named", "[judge][package][scoring]") {
  struct Case {
    const char *path, *yaml, *error;
  };
  const Case cases[] = {
      {"secret", "max_score: 1.5\n", "secret/test_group.yaml: max_score: expected a whole number"},
      {"secret", "max_score: -1\n", "max_score: expected a whole number"},
      {"secret", "score_aggregation: avg\n", "score_aggregation: expected pass-fail, sum or min"},
      {"secret", "score_aggregation: pass-fail\nmax_score: unbounded\n",
       "max_score: a group with pass-fail aggregation needs one"},
      {"secret", "require_pass: secret/a\n", "require_pass: secret can require sample alone"},
      {"secret", "score_aggregation: pass-fail\n",
       "secret/b/test_group.yaml: score_aggregation: secret has pass-fail"},
      {"secret/a", "args: []\n", "secret/a/test_group.yaml: max_score: a group with pass-fail"},
      {"secret/a", "score_aggregation: sum\n", "max_score: a group of a secret that has one"},
      {"secret/a", "max_score: 1\nrequire_pass: secret/b\n", "\"secret/b\" is no group that comes"},
      {"secret/c", "max_score: 1\nrequire_pass: secret/b\n",
       "\"secret/b\" does not have pass-fail"},
      {"secret/a", "max_score: 1\nstatic_validation_score: 1\n", "static validators are not"},
      {"secret/a/1", "args: []\n", "there are no groups in groups or samples"},
      {"sample/x", "args: []\n", "there are no groups in groups or samples"},
      {"sample", "max_score: 1\n", "sample/test_group.yaml: max_score: is for secret and its"},
      {"", "require_pass: sample\n", "data/test_group.yaml: require_pass: is for secret"},
  };
  for (const Case& each : cases) {
    PackageFolder folder;
    folder.file("problem.yaml", kScoring);
    for (const char* test : {"sample/1", "sample/x/1", "secret/a/1/1", "secret/b/1", "secret/c/1"})
      folder.test(std::string("data/") + test);
    for (const char* group : {"a", "b", "c"})
      folder.file(
          std::string("data/secret/") + group + "/test_group.yaml",
          std::string("max_score: 9\n") + (*group == 'b' ? "score_aggregation: sum\n" : ""));
    folder.file(std::string("data/") + each.path + "/test_group.yaml", each.yaml);
    INFO(each.path << ": " << each.yaml);
    CHECK_THAT(folder.error(), Contains(each.error));
  }
}

TEST_CASE("secret has groups or tests, and a group has tests", "[judge][package][scoring]") {
  PackageFolder test_beside, folder_beside, empty, none;
  for (PackageFolder* each : {&test_beside, &folder_beside, &empty, &none})
    each->file("problem.yaml", kScoring).test("data/sample/1");
  for (PackageFolder* each : {&test_beside, &folder_beside, &empty})
    each->file("data/secret/a/test_group.yaml", "max_score: 100\n");
  test_beside.test("data/secret/a/1").test("data/secret/1");
  folder_beside.test("data/secret/a/1").test("data/secret/b/1");

  CHECK_THAT(test_beside.error(), Contains("data/secret/1.in: beside groups"));
  CHECK_THAT(folder_beside.error(), Contains("data/secret/b: beside groups"));
  CHECK_THAT(empty.error(), Contains("data/secret/a: a group has a test"));
  CHECK_THAT(none.error(), Contains("data/secret: no test"));
}

}  // namespace
}  // namespace cli
