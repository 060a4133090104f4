// Packages of the format from 2023-07 on.

#include "runtime/judging/suite_verdicts.h"
#include "tests/unit/tools/cli/judge/fixture.h"
#include "tools/cli/judge/expectations.h"
#include "tools/cli/judge/passes.h"

namespace cli {
namespace {

using Catch::Matchers::Contains;
using Strings = std::vector<std::string>;

const std::string kVersion = "problem_format_version: 2023-07-draft\n";

TEST_CASE("2023: problem.yaml, its limits and their defaults", "[judge][package][2023]") {
  PackageFolder given, plain, completed;
  given.small(kVersion +
              "name: {sv: Ett, en: One}\nuuid: x\ntype: [pass-fail]\ncredits: {authors: [A]}\n"
              "limits: {time_limit: 1.5, time_multipliers: {ac_to_time_limit: 3, "
              "time_limit_to_tle: 2}, memory: 64, code: 9}\n"
              "languages: [c]\nconstants: {n: 1}\n");
  plain.small(kVersion);
  completed.small("problem_format_version: 2025-09\nlanguages: all\n");

  const Package package = given.read();
  const ProblemLimits usual = plain.read().settings.limits;

  CHECK(package.settings.name == "One");
  CHECK(package.settings.limits.time_multiplier == 3);
  CHECK(package.time_limit == sys::Milliseconds(1500));
  CHECK(package.settings.limits.memory_mib == 64);
  CHECK(package.ignored == Strings{"limits.time_multipliers.time_limit_to_tle", "limits.code",
                                   "languages", "constants"});
  CHECK((usual.time_multiplier == 2 && usual.time_resolution_s == 1.0));
  CHECK(completed.read().ignored.empty());
}

TEST_CASE("2023: arguments and files of tests, by the nearest file", "[judge][package][2023]") {
  PackageFolder folder;
  folder.small(kVersion).test("data/secret/a/1").test("data/secret/a/2").test("data/secret/b/1");
  folder.file("data/secret/test_group.yaml", "output_validator_args: [outer]\nargs: [x, y z]\n");
  folder.file("data/secret/a/test_group.yaml", "output_validator_args: [of, a]\n");
  folder.file("data/secret/a/2.yaml", "args: []\ndescription: none\nfull_feedback: true\n");
  folder.file("data/secret/a/2.files/deep/f.txt", "f").file("data/secret/1.args", "p q\n");
  folder.file("data/secret/b/testdata.yaml", "output_validator_flags: old name\n");

  const Package package = folder.read();

  REQUIRE(package.tests.size() == 4);
  CHECK(package.tests[0].argv == Strings{"p", "q"});
  CHECK(package.tests[0].flags == Strings{"outer"});
  CHECK(package.tests[1].argv == Strings{"x", "y z"});
  CHECK(package.tests[1].flags == Strings{"of", "a"});
  CHECK(package.tests[2].argv.empty());
  CHECK(package.tests[2].files == "data/secret/a/2.files");
  CHECK(package.tests[3].flags == Strings{"old", "name"});
}

TEST_CASE("2023: the validator is the folder, or the one thing in it", "[judge][package][2023]") {
  PackageFolder none, file, folder, many, old;
  none.small(kVersion);
  file.small(kVersion).file("output_validator/v.py", "");
  folder.small(kVersion).file("output_validator/v/v.cpp", "");
  many.small(kVersion).file("output_validator/v.cpp", "").file("output_validator/v.h", "");
  old.small(kVersion).file("output_validators/v/v.cpp", "");

  CHECK(none.read().validator.empty());
  CHECK(file.read().validator == "output_validator/v.py");
  CHECK(folder.read().validator == "output_validator/v");
  CHECK(many.read().validator == "output_validator");
  CHECK(old.read().validator == "output_validators/v");
}

TEST_CASE("2023: a multi-pass problem has two passes, or as many as it says",
          "[judge][package][2023]") {
  PackageFolder two, five;
  two.small(kVersion + "type: multi-pass\n").file("output_validator/v.py", "");
  five.small(kVersion + "limits: {validation_passes: 5}\ntype: [pass-fail, multi-pass]\n");
  five.file("output_validator/v.py", "");

  CHECK(two.read().settings.passes == 2);
  CHECK(five.read().settings.passes == 5);
}

TEST_CASE("the end of a pass: another one, a verdict, or a mistake of the validator",
          "[judge][passes]") {
  auto end = [&](int code, std::vector<runtime::InputFile> files, unsigned pass) {
    runtime::Verdict verdict{runtime::Outcome::kOk, "", runtime::By::kProgram, {}};
    if (code != 42) verdict = runtime::wrong_answer({{"code", int64_t{code}}});
    return end_of_pass(verdict, {std::move(files), {}}, pass, 2);
  };
  const runtime::InputFile next{kNextPass, "7\n"}, state{"feedback/state", "s"};

  const PassEnd more = end(42, {next, state}, 1);
  CHECK(more.next == "7\n");
  CHECK(more.feedback == std::vector<runtime::InputFile>{state});
  CHECK((!end(42, {state}, 1).next && end(42, {state}, 1).verdict.ok()));
  CHECK(end(43, {state}, 1).verdict.label() == "WrongAnswer");
  for (const PassEnd& bad : {end(43, {next}, 1), end(42, {next}, 2)}) {
    CHECK_FALSE(bad.next);
    CHECK(bad.verdict.label() == "BadJob");
  }
}

TEST_CASE("2023: what is wrong or not supported is named", "[judge][package][2023]") {
  struct Case {
    const char *path, *text, *error;
  };
  const std::string problem = "problem.yaml";
  const Case cases[] = {
      {"problem.yaml", "type: submit-answer\n", "problem.yaml: type: submit-answer is not"},
      {"problem.yaml", "type: [pass-fail, scoring]\n", "type: pass-fail and scoring exclude"},
      {"problem.yaml", "type: [interactive, interactive]\n", "interactive is given twice"},
      {"problem.yaml", "type: interactive\n", "output_validator/: none; interactive"},
      {"problem.yaml", "type: multi-pass\n", "output_validator/: none; interactive"},
      {"problem.yaml", "type: [multi-pass, interactive]\n", "output_validator/: none; interactive"},
      {"problem.yaml", "limits: {validation_passes: 3}\n", "is for problems of type multi-pass"},
      {"problem.yaml", "type: multi-pass\nlimits: {validation_passes: 1}\n", "a number from 2"},
      {"problem.yaml", "type: []\n", "type: expected at least one word"},
      {"problem.yaml", "validation: custom\n", "problem.yaml: validation: unknown field"},
      {"problem.yaml", "limits: {time_multiplier: 2}\n", "limits.time_multiplier: unknown field"},
      {"problem.yaml", "limits: {time_multipliers: {ac: 2}}\n", "time_multipliers.ac: unknown"},
      {"data/secret/test_group.yaml", "args: {a: 1}\n",
       "data/secret/test_group.yaml: args: expected a list of strings"},
      {"data/secret/test_group.yaml", "max_score: 3\n", "max_score: is for problems of type"},
      {"data/secret/test_group.yaml", "static_validation_score: 3\n", "static validators are not"},
      {"data/secret/1.yaml", "max_score: 3\n", "data/secret/1.yaml: max_score: unknown field"},
      {"data/secret/1.args", "'a b'\n", "data/secret/1.args: quoting is not supported"},
      {"data/secret/2.yaml", "", "data/secret/2.yaml: there is no data/secret/2.in"},
      {"data/secret/2.files/x", "", "data/secret/2.files: there is no data/secret/2.in"},
      {"submissions/submissions.yaml", "a: {permitted: [OK]}\n",
       "submissions/submissions.yaml: a: permitted: expected a list of AC, WA, TLE and RTE"},
  };
  for (const Case& each : cases) {
    PackageFolder folder;
    folder.small(kVersion);
    folder.file(each.path, (each.path == problem ? kVersion : "") + each.text);
    INFO(each.path << ": " << each.text);
    CHECK_THAT(folder.error(), Contains(each.error));
  }
}

TEST_CASE("submissions.yaml: what is permitted and required makes the verdict",
          "[judge][package][2023]") {
  const auto read = Expectations::read(
      "wrong_answer: {permitted: [AC, WA, TLE]}\n"
      "'*/{half,none}.py': {permitted: [AC, RTE], authors: A}\n"
      "mixed/x.py: {required: [WA], use_for_time_limit: false, secret/a: {permitted: [AC]}}\n",
      ProblemType::kPassFail);
  REQUIRE(read);
  auto said = [&read](const char* path) {
    const auto expected = read->of(path);
    return expected ? text_of(expected->promise) : expected.error().text();
  };

  CHECK(said("accepted/x.py") == "AC");
  CHECK(said("rejected/x.py") == "WA or TLE or RTE");
  CHECK(said("brute_force/x") == "TLE or RTE");
  CHECK(said("wrong_answer/x.py") == "WA or TLE");
  CHECK(said("run_time_error/half.py") == "RTE");
  CHECK(said("mixed/none.py") == "AC or RTE");
  CHECK(said("mixed/x.py") == "WA or TLE or RTE");
  CHECK(said("mixed/y.py") == "any");
  CHECK_THAT(said("wrong_answer/half.py"), Contains("what is required is not permitted"));
  CHECK_FALSE(read->of("mixed/x.py")->measures);
  CHECK(read->ignored() == Strings{"submissions.yaml: mixed/x.py: secret/a"});
}

TEST_CASE("patterns of submissions", "[judge][package][2023]") {
  CHECK(names_submission("accepted", "accepted/x.py"));
  CHECK(names_submission("accepted/*", "accepted/x.py"));
  CHECK(names_submission("*/{a,b*}.{py,c}", "mixed/bcd.c"));
  CHECK_FALSE(names_submission("*", ""));
  CHECK_FALSE(names_submission("*.py", "accepted/x.py"));
  CHECK_FALSE(names_submission("accepted/*/x.py", "accepted/x.py"));
  CHECK_FALSE(names_submission("{a,b", "a"));
  CHECK_FALSE(names_submission("{{{{a,b},c},d},e", "a/x"));
  std::string bomb;
  for (int i = 0; i < 1000; ++i) bomb += "{a,a}";
  CHECK_FALSE(names_submission(bomb, "a"));
}

}  // namespace
}  // namespace cli
