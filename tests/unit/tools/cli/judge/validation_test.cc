#include "tools/cli/judge/validation.h"

#include "tests/unit/tools/cli/judge/fixture.h"
#include "tools/cli/judge/promise.h"
#include "tools/cli/judge/words.h"

namespace cli {
namespace {

using Catch::Matchers::Contains;
using runtime::Outcome;

std::vector<runtime::TemplateSpec> known_languages() {
  auto cpp = std::make_shared<runtime::RuntimeSpec>();
  cpp->name = "cpp";
  cpp->extensions = {"cpp", "cc"};
  return {{"python", {}, "", nullptr}, {"cpp", {}, "", cpp}};
}

TEST_CASE("flags of the default validator", "[judge][validation]") {
  const auto none = parse_validator_flags({});
  const auto all =
      parse_validator_flags({"case_sensitive", "space_change_sensitive", "float_absolute_tolerance",
                             "1e-6", "float_relative_tolerance", "0.5"});
  const auto both = parse_validator_flags({"float_tolerance", "1e-9"});

  REQUIRE((none && all && both));
  CHECK(*none == runtime::TokenRules{});
  CHECK(*all == runtime::TokenRules{true, true, 1e-6, 0.5});
  CHECK(*both == runtime::TokenRules{false, false, 1e-9, 1e-9});
}

TEST_CASE("flags that the default validator does not have are refused", "[judge][validation]") {
  struct Case {
    std::vector<std::string> flags;
    const char* error;
  };
  const Case cases[] = {{{"case_insensitive"}, "\"case_insensitive\" is not a flag"},
                        {{"float_tolerance"}, "float_tolerance wants a number"},
                        {{"float_tolerance", "little"}, "float_tolerance wants a number"},
                        {{"float_tolerance", "-1"}, "float_tolerance wants a number"},
                        {{"float_tolerance", "nan"}, "float_tolerance wants a number"},
                        {{"1e-6"}, "\"1e-6\" is not a flag"}};
  for (const Case& each : cases) {
    const auto rules = parse_validator_flags(each.flags);
    REQUIRE_FALSE(rules);
    CHECK_THAT(rules.error().text(), Contains(each.error));
  }
}

TEST_CASE("wrong flags are named with the file or the test they are of", "[judge][validation]") {
  PackageFolder problem, group;
  problem.small("validator_flags: exactly\n");
  group.small().file("data/secret/testdata.yaml", "output_validator_flags: exactly\n");

  const auto of_problem = check_flags(problem.read()), of_group = check_flags(group.read());

  REQUIRE((!of_problem && !of_group));
  CHECK_THAT(of_problem.error().text(), Contains("problem.yaml: validator_flags: \"exactly\""));
  CHECK_THAT(of_group.error().text(), Contains("data/secret/1: output_validator_flags"));
}

TEST_CASE("a custom validator is a checker of protocol icpc with the package's limits",
          "[judge][validation]") {
  PackageFolder folder;
  folder.small("validation: custom\nvalidator_flags: a\nlimits: {validation_time: 3}\n");
  folder.file("output_validators/v/v.cpp", "int main() {}").file("output_validators/v/x/y.h", "//");
  folder.file("data/secret/testdata.yaml", "output_validator_flags: b c\n");
  const Package package = folder.read();

  const auto checker = read_checker(folder.open(), package, known_languages());
  const auto test = load_test(folder.open(), package, package.tests[0]);

  REQUIRE((checker && *checker && test));
  CHECK((*checker)->template_name == "cpp");
  CHECK((*checker)->source == "int main() {}");
  CHECK((*checker)->protocol == runtime::Checker::Protocol::kIcpc);
  CHECK((*checker)->limits.cpu == sys::Milliseconds(3000));
  REQUIRE((*checker)->files.size() == 1);
  CHECK((*checker)->files[0].path == "x/y.h");
  CHECK(test->comparator == runtime::Comparator::kChecker);
  CHECK(test->checker_argv == std::vector<std::string>{"a", "b", "c"});
  CHECK(test->expect == "2\n");
}

TEST_CASE("the program of a folder is its only source, or main.*", "[judge][program]") {
  PackageFolder folder;
  folder.file("one/x.cpp", "1").file("one/x.h", "").file("many/Main.py", "2");
  folder.file("many/other.py", "").file("doubt/a.py", "").file("doubt/b.cpp", "");
  folder.file("none/x.h", "")
      .file("built/build", "make")
      .file("built/x.c", "")
      .file("text.txt", "");
  folder.file("ready/run", "#!/bin/sh").file("ready/x.py", "");
  const Folder root = folder.open();
  auto why = [&root](const char* path) {
    auto program = read_program(root, path, known_languages());
    return program ? "" : program.error().text();
  };

  CHECK(read_program(root, "one", known_languages())->template_name == "cpp");
  CHECK(read_program(root, "many", known_languages())->source == "2");
  CHECK_THAT(why("doubt"), Contains("doubt: a.py and b.cpp could each be the program"));
  CHECK_THAT(why("none"), Contains("none: no file has an extension of a known language"));
  CHECK(read_program(root, "built", known_languages())->template_name == "build-and-run");
  CHECK(read_program(root, "built", known_languages())->source == "make");
  CHECK(read_program(root, "ready", known_languages())->source.empty());
  CHECK(read_program(root, "ready", known_languages())->files.size() == 2);
  CHECK_THAT(why("text.txt"), Contains("text.txt: no language has this extension"));
  CHECK_THAT(why("absent.py"), Contains("absent.py: No such file"));
}

TEST_CASE("every outcome has a contest's word", "[judge][words]") {
  auto word = [](Outcome outcome, const char* type = "") {
    return name_of(word_of({outcome, type, runtime::By::kProgram, {}}));
  };
  CHECK(word(Outcome::kOk) == "AC");
  CHECK(word(Outcome::kWrongAnswer) == "WA");
  CHECK(word(Outcome::kTimeout) == "TLE");
  CHECK(word(Outcome::kMemoryLimit) == "MLE");
  CHECK(word(Outcome::kOutputLimit) == "OLE");
  CHECK(word(Outcome::kCompilationError) == "CE");
  CHECK(word(Outcome::kException, "SyntaxError") == "CE");
  CHECK(word(Outcome::kException, "ValueError") == "RTE");
  CHECK(word(Outcome::kUnsafeCode) == "RTE");
  CHECK(word(Outcome::kSandboxError) == "JE");
  CHECK(word(Outcome::kBadJob) == "JE");
}

TEST_CASE("what a folder promises; a judge in trouble never keeps it", "[judge][words]") {
  CHECK(keeps(promise_of("accepted"), Word::kAC));
  CHECK_FALSE(keeps(promise_of("accepted"), Word::kWA));
  CHECK(keeps(promise_of("run_time_error"), Word::kRTE));
  CHECK(keeps(promise_of("run_time_error"), Word::kMLE));
  CHECK_FALSE(keeps(promise_of("time_limit_exceeded"), Word::kRTE));
  CHECK(keeps(promise_of("mixed"), Word::kCE));
  CHECK_FALSE(keeps(promise_of("mixed"), Word::kJE));
  CHECK(text_of(promise_of("mixed")) == "any");
  CHECK(keeps(promise_of("accepted"), Word::kPAC));
  CHECK(keeps(promise_of("partially_accepted"), Word::kPAC));
  CHECK_FALSE(keeps(promise_of("partially_accepted"), Word::kAC));
}

TEST_CASE("what a line in a submission promises", "[judge][words]") {
  auto [source, words] = GENERATE(table<std::string, std::string>({
      {"// @EXPECTED_RESULTS@: TIMELIMIT, RUN-ERROR\nint main() {}\n", "TLE or RTE"},
      {"/* @EXPECTED_RESULTS@: WRONG_ANSWER */", "WA"},
      {"<!-- @EXPECTED_RESULTS@:correct-->", "AC"},
      {"# @EXPECTED_RESULTS@: ACCEPTED\r\n# @EXPECTED_RESULTS@: NO-OUTPUT,COMPILER_ERROR\r\n",
       "WA or CE"},
      {"@EXPECTED_RESULTS@: OUTPUT_LIMIT, memory_limit_exceeded", "OLE or MLE"},
      {"@EXPECTED_RESULTS@: CORRECT, CHECK-MANUALLY", "any"},
      {"int main() {}", "nothing"},
      {"// @EXPECTED_RESULTS@ AC", "nothing"},
      {"@EXPECTED_RESULTS@: PERFECT, CORRECT", "\"PERFECT\" is the name of no result"},
      {"@EXPECTED_RESULTS@:\nCORRECT", "\"\" is the name of no result"},
      {"@EXPECTED_RESULTS@: CORRECT,", "AC"},
  }));
  CAPTURE(source);

  const auto promise = promise_in(source);

  if (!promise) {
    CHECK_THAT(promise.error().text(), Catch::EndsWith(words));
  } else {
    CHECK((*promise ? text_of(**promise) : "nothing") == words);
  }
}

}  // namespace
}  // namespace cli
