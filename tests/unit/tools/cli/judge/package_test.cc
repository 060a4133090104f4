#include <sys/stat.h>

#include "tests/unit/tools/cli/judge/fixture.h"

namespace cli {
namespace {

using Catch::Matchers::Contains;
using Flags = std::vector<std::string>;

TEST_CASE("a package: samples first, then secret tests by path; examples by folder",
          "[judge][package]") {
  PackageFolder folder;
  folder.small().test("data/secret/b/1").test("data/secret/a/2").test("data/sample/9");
  folder.file("data/secret/b/1.hint", "").file("data/README", "");
  folder.file("submissions/accepted/x.py", "").file("submissions/mixed/y/main.c", "");

  const Package package = folder.read();

  REQUIRE(package.tests.size() == 4);
  CHECK(package.tests[0].name == "sample/9");
  CHECK(package.tests[1].name == "secret/1");
  CHECK(package.tests[2].name == "secret/a/2");
  CHECK(package.tests[3].name == "secret/b/1");
  CHECK(package.tests[3].answer == "data/secret/b/1.ans");
  REQUIRE(package.examples.size() == 2);
  CHECK(package.examples[0].folder == "accepted");
  CHECK(package.examples[1].path == "submissions/mixed/y");
  CHECK_FALSE(package.time_limit);
  CHECK(package.validator.empty());
}

TEST_CASE("problem.yaml: limits and their defaults", "[judge][package]") {
  PackageFolder folder;
  folder.small("name: {sv: Ett, en: One}\nlimits: {memory: 64, time_multiplier: 2.5}\n");

  const ProblemSettings settings = folder.read().settings;

  CHECK(settings.name == "One");
  CHECK(settings.limits.memory_mib == 64);
  CHECK(settings.limits.time_multiplier == 2.5);
  CHECK(settings.limits.output_mib == 8);
  CHECK(settings.limits.validation_time_s == 60);
}

TEST_CASE("the time limit: .timelimit outranks limits.time_limit", "[judge][package]") {
  PackageFolder given, outranked, wrong;
  given.small("limits: {time_limit: 1.5}\n");
  outranked.small("limits: {time_limit: 1.5}\n").file(".timelimit", "3\n");
  wrong.small().file(".timelimit", "3 seconds\n");

  CHECK(given.read().time_limit == sys::Milliseconds(1500));
  CHECK(outranked.read().time_limit == sys::Milliseconds(3000));
  CHECK_THAT(wrong.error(), Contains(".timelimit: expected a number of seconds"));
}

TEST_CASE("flags: the problem's, then those of the nearest group", "[judge][package]") {
  PackageFolder folder;
  folder.small("validator_flags: a b\n").test("data/secret/x/1").test("data/secret/x/y/1");
  folder.test("data/secret/z/1");
  folder.file("data/testdata.yaml", "output_validator_flags: outer\n");
  folder.file("data/secret/x/testdata.yaml", "output_validator_flags: of x\n");
  folder.file("data/secret/z/testdata.yaml", "output_validator_flags: ''\ngrading: default\n");

  const Package package = folder.read();

  CHECK(package.tests[0].flags == Flags{"a", "b", "outer"});
  CHECK(package.tests[1].flags == Flags{"a", "b", "of", "x"});
  CHECK(package.tests[2].flags == Flags{"a", "b", "of", "x"});
  CHECK(package.tests[3].flags == Flags{"a", "b"});
}

TEST_CASE("what makes no difference is named", "[judge][package]") {
  PackageFolder folder;
  folder.small("limits: {code: 128}\nlanguages: all\n").file("input_validators/v.py", "");
  folder.file("output_validators/v.py", "").file("submissions/README", "");
  folder.file("data/testdata.yaml", "grading: default\ngrader_flags: ''\non_reject: continue\n");
  folder.file("data/secret/testdata.yaml", "grading: custom\ngrader_flags: max\n");

  CHECK(folder.read().ignored == Flags{"limits.code", "languages", "testdata.yaml: grading",
                                       "testdata.yaml: grader_flags",
                                       "output_validators/ (validation: default)",
                                       "submissions/README", "input_validators/"});
}

TEST_CASE("a scoring problem: groups, with what each inherits", "[judge][package][grading]") {
  PackageFolder folder;
  folder.small("type: scoring\nvalidation: default\ngrading: {objective: min}\n");
  folder.test("data/secret/b/1").test("data/secret/a/2").test("data/sample/9");
  folder.file("data/secret/empty/README", "");
  folder.file("data/testdata.yaml",
              "on_reject: continue\ngrader_flags: ignore_sample max\nrange: -inf 10\n");
  folder.file(
      "data/secret/a/testdata.yaml",
      "on_reject: break\naccept_score: 2.5\nreject_score: -1\ngrader_flags: min first_error\n");

  const Package package = folder.read();

  CHECK(package.settings.type == ProblemType::kScoring);
  CHECK(package.settings.less_is_better);
  Flags names, tests;
  for (const TestGroup& group : package.groups) names.push_back(group.name);
  for (const PackageTest& test : package.tests) tests.push_back(test.name);
  CHECK(names == Flags{"", "sample", "secret", "secret/a", "secret/b"});
  CHECK(tests == Flags{"sample/9", "secret/1", "secret/a/2", "secret/b/1"});
  const Grading& root = package.groups[0].grading;
  const Grading& a = package.groups[3].grading;
  const Grading& b = package.groups[4].grading;
  CHECK((root.flags.ignores_sample && root.flags.scores == ScoreMode::kMost));
  CHECK((!root.stops_at_reject && root.range.most == 10));
  CHECK((a.stops_at_reject && a.accept_score == 2.5 && a.reject_score == -1));
  CHECK(a.flags == GraderFlags{VerdictMode::kFirstError, ScoreMode::kLeast, false, false});
  CHECK(a.range == root.range);
  CHECK((!b.stops_at_reject && b.accept_score == 1 && !b.flags.ignores_sample));
  CHECK(package.ignored.empty());
}

TEST_CASE("a mistake in a scoring problem's testdata.yaml is named", "[judge][package][grading]") {
  struct Case {
    const char *yaml, *error;
  };
  const Case cases[] = {
      {"on_reject: stop\n", "data/secret/testdata.yaml: on_reject: expected break or continue"},
      {"grading: custom\n", "grading: graders of a package's own are not supported yet"},
      {"grading: own\n", "grading: expected default"},
      {"grader_flags: sum median\n",
       "grader_flags: \"median\" is not a flag of the default grader"},
      {"grader_flags: ignore_sample\n", "ignore_sample is for data/testdata.yaml"},
      {"accept_score: lots\n", "accept_score: expected a number"},
      {"reject_score: inf\n", "reject_score: expected a number"},
      {"range: 5\n", "range: expected two numbers"},
      {"range: 5 1\n", "range: expected two numbers, the smaller one first"},
  };
  for (const Case& each : cases) {
    PackageFolder folder;
    folder.small("type: scoring\n").file("data/secret/testdata.yaml", each.yaml);
    INFO(each.yaml);
    CHECK_THAT(folder.error(), Contains(each.error));
  }
}

TEST_CASE("a custom validator is exactly one program", "[judge][package]") {
  PackageFolder none, one, two;
  none.small("validation: custom\n");
  one.small("validation: custom\n").file("output_validators/v/v.cpp", "");
  two.small("validation: custom\n").file("output_validators/a.py", "");
  two.file("output_validators/b.py", "");

  CHECK_THAT(none.error(), Contains("output_validators/: 0 programs"));
  CHECK(one.read().validator == "output_validators/v");
  CHECK_THAT(two.error(), Contains("output_validators/: 2 programs"));
}

TEST_CASE("a mistake in problem.yaml is named with its file, field and line", "[judge][package]") {
  struct Case {
    const char *yaml, *error;
  };
  const Case cases[] = {
      {"nme: x\n", "problem.yaml: nme: unknown field (line 1)"},
      {"name: x\nname: y\n", "problem.yaml: line 2: \"name\" is given twice"},
      {"name: [a]\n", "problem.yaml: name: expected a string"},
      {"- a\n", "problem.yaml: expected a map"},
      {"limits: 3\n", "problem.yaml: limits: expected a map"},
      {"limits:\n  memory: lots\n", "limits.memory: expected a number from 1 to 65536 (line 2)"},
      {"limits: {memory: 1e9}\n", "limits.memory: expected a number"},
      {"limits: {memory: nan}\n", "limits.memory: expected a number"},
      {"limits: {time_multiplier: 0}\n", "limits.time_multiplier: expected a number"},
      {"limits: {time: 1}\n", "limits.time: unknown field"},
      {"validation: maybe\n", "validation: expected default, custom"},
      {"validation: default interactive\n", "validation: expected default, custom"},
      {"validation: []\n", "validation: expected a string"},
      {"validation: custom score\n", "validation: score is for problems of type scoring"},
      {"validation: custom score score\ntype: scoring\n", "validation: expected default, custom"},
      {"type: graded\n", "type: expected pass-fail or scoring"},
      {"type: scoring\ngrading: {objective: most}\n", "grading.objective: expected min or max"},
      {"grading: {accept_score: 1}\ntype: scoring\n", "accept_score: unknown field; see testdata"},
      {"problem_format_version: 2021-01\n", "only legacy, 2023-07 and 2025-09 are supported"},
      {"a: &x 1\n", "problem.yaml: line 1: anchors are not accepted"},
      {"a: *x\n", "problem.yaml: line 1: "},
      {"a: !!binary x\n", "problem.yaml: line 1: tags are not accepted"},
      {"{a: 1}: 2\n", "problem.yaml: line 1: a key that is not a word"},
      {"a: 1\n---\nb: 1\n", "more than one document"},
      {"a: [1\n", "problem.yaml: line "},
      {"name: \xff\n", "problem.yaml: line 1: not UTF-8"},
  };
  for (const Case& each : cases) {
    PackageFolder folder;
    folder.small(each.yaml);
    INFO(each.yaml);
    CHECK_THAT(folder.error(), Contains(each.error));
  }
}

TEST_CASE("YAML that is a bomb is refused", "[judge][package]") {
  PackageFolder deep, flow, open, wide, large, null;
  std::string indented;
  for (int i = 0; i < 1000; ++i) indented += std::string(static_cast<size_t>(i) * 2, ' ') + "a:\n";
  deep.small(indented.substr(0, 60000));
  flow.small("keywords: " + std::string(100, '[') + std::string(100, ']') + "\n");
  open.small(std::string(60000, '['));
  wide.small("keywords: [" + std::string(30000, ',') + "]\n");
  large.small("name: " + std::string(100000, 'x') + "\n");
  null.small(std::string("name: x\0\n", 9));

  CHECK_THAT(deep.error(), Contains("problem.yaml: line"));
  CHECK_THAT(flow.error(), Contains("nested more than 8 levels deep"));
  CHECK_THAT(open.error(), Contains("problem.yaml: line 1"));
  CHECK_THAT(wide.error(), Contains("problem.yaml: line 1"));
  CHECK_THAT(large.error(), Contains("problem.yaml: longer than 65536 bytes"));
  CHECK_THAT(null.error(), Contains("a NUL character"));
}

TEST_CASE("a malformed folder is refused, with the path in it", "[judge][package]") {
  PackageFolder empty, no_data, no_tests, no_answer, no_input, testdata;
  no_data.file("problem.yaml", "name: x\n");
  no_tests.file("problem.yaml", "name: x\n").file("data/secret/README", "");
  no_answer.small().file("data/secret/2.in", "");
  no_input.small().file("data/secret/2.ans", "");
  testdata.small().file("data/secret/testdata.yaml", "output_validator_flag: x\n");

  CHECK_THAT(empty.error(), Contains("problem.yaml: there is none"));
  CHECK_THAT(no_data.error(), Contains("data/: there is no such folder"));
  CHECK_THAT(no_tests.error(), Contains("data/: no test"));
  CHECK_THAT(no_answer.error(), Contains("data/secret/2.in: there is no data/secret/2.ans"));
  CHECK_THAT(no_input.error(), Contains("data/secret/2.ans: there is no data/secret/2.in"));
  CHECK_THAT(testdata.error(),
             Contains("data/secret/testdata.yaml: output_validator_flag: unknown field"));
}

TEST_CASE("links may lead about in a package, never out of it", "[judge][package]") {
  PackageFolder inside, relative, absolute, folder, loop, yaml;
  inside.small().link("data/secret/2.in", "1.in").link("data/secret/2.ans", "1.ans");
  relative.small().link("data/secret/2.in", "../../../../etc/passwd").file("data/secret/2.ans", "");
  absolute.small().link("data/secret/2.in", "/etc/passwd").file("data/secret/2.ans", "");
  folder.small().link("data/secret/out", "/etc");
  loop.small().link("data/secret/again", "../secret");
  yaml.small();
  std::filesystem::remove(yaml.path() / "problem.yaml");
  yaml.link("problem.yaml", "/etc/hostname");

  CHECK(inside.read().tests.size() == 2);
  CHECK_THAT(relative.error(), Contains("data/secret/2.in: a link that leads out"));
  CHECK_THAT(absolute.error(), Contains("data/secret/2.in: a link that leads out"));
  CHECK_THAT(folder.error(), Contains("data/secret/out: a link that leads out"));
  CHECK_THAT(loop.error(), Contains("groups in each other"));
  CHECK_THAT(yaml.error(), Contains("problem.yaml: a link that leads out"));
}

TEST_CASE("a pipe in a package is refused, not waited for", "[judge][package]") {
  PackageFolder folder;
  folder.small().file("data/secret/2.ans", "");
  REQUIRE(::mkfifo((folder.path() / "data/secret/2.in").c_str(), 0600) == 0);

  CHECK_THAT(folder.error(), Contains("data/secret/2.in: neither a file nor a folder"));
}

}  // namespace
}  // namespace cli
