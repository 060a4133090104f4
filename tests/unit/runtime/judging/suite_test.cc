#include "runtime/judging/suite.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "runtime/values/value.h"

namespace runtime {
namespace {

TestCase test_of(const std::string& input, const std::string& expect) {
  TestCase test;
  test.name = "test " + input;
  test.stdin_bytes = input;
  test.expect = expect;
  return test;
}

// Answers with the input as output, or as `ends` says for that input; at once.
struct Machine {
  std::map<std::string, Outcome> ends;
  std::vector<std::string> ran;

  JobResult run(Job job, unsigned at_once = 2) {
    std::vector<JobResult> results;
    Suite::Machine machine;
    machine.at_once = at_once;
    machine.run = [this](Job run, Suite::Done done) {
      JobResult result;
      const std::string& input = run.stdin_bytes;
      ran.push_back(input);
      auto end = ends.find(input);
      result.verdict = {end == ends.end() ? Outcome::kOk : end->second, "", By::kProgram, {}};
      result.out.bytes = input;
      result.usage.cpu_us = 10;
      done(std::move(result));
    };
    Suite::start(std::move(job), std::move(machine),
                 [&results](JobResult result) { results.push_back(std::move(result)); });
    REQUIRE(results.size() == 1);
    return results[0];
  }
};

Job job_of(std::vector<TestCase> tests) {
  Job job;
  job.id = "job";
  job.tag = "7";
  job.tests = std::move(tests);
  return job;
}

TEST_CASE("a suite runs every test and adds up what they used", "[suite]") {
  Machine machine;

  JobResult result = machine.run(job_of({test_of("1", "1"), test_of("2", "2"), test_of("3", "3")}));

  CHECK(machine.ran == std::vector<std::string>{"1", "2", "3"});
  CHECK(result.verdict.ok());
  CHECK(result.id == "job");
  CHECK(result.tag == "7");
  CHECK(result.usage.cpu_us == 30);
  REQUIRE(result.tests.size() == 3);
  CHECK(result.tests[2].name == "test 3");
}

TEST_CASE("the first test that fails, in their order, makes the verdict", "[suite]") {
  Machine machine{{{"3", Outcome::kTimeout}}, {}};

  JobResult result = machine.run(job_of({test_of("1", "1"), test_of("2", "x"), test_of("3", "3")}));

  CHECK(result.verdict.label() == "WrongAnswer");
  CHECK(result.verdict.detail.front() == std::pair<std::string, DetailValue>{"test", "test 2"});
  CHECK(result.tests[2].verdict.label() == "TimeoutException");
}

TEST_CASE("a value that is compared exactly differs in type alone", "[suite]") {
  const auto list_of = [](double number) {  // as the results of calls come
    Writer value;
    value.container(shim::Tag::kList, 1);
    value.number(number);
    return value.take();
  };
  TestCase test;
  test.calls = "calls";
  test.comparator = Comparator::kValue;
  Writer one;
  one.integer(1);
  test.expect = one.take();
  Job job = job_of({test});
  job.mode = shim::Mode::kCall;
  std::optional<JobResult> result;

  const auto run = [&list_of](const Job&, const Suite::Done& done) {
    JobResult ended;
    ended.verdict = {Outcome::kOk, "", By::kProgram, {}};
    ended.value = list_of(1);
    done(std::move(ended));
  };

  Suite::start(std::move(job), {.run = run, .run_pair = {}},
               [&result](JobResult all) { result = std::move(all); });

  REQUIRE(result);
  CHECK(result->verdict.label() == "WrongAnswer");
  CHECK(result->verdict.detail.back() == std::pair<std::string, DetailValue>{"got", "1.0 (float)"});
}

TEST_CASE("stop at the first failure leaves the rest alone", "[suite]") {
  Machine machine;
  Job job = job_of({test_of("1", "1"), test_of("2", "x"), test_of("3", "3")});
  job.stop_at_failure = true;

  JobResult result = machine.run(std::move(job), 8);

  CHECK(machine.ran == std::vector<std::string>{"1", "2"});
  CHECK(result.tests[2].skipped);
}

TEST_CASE("an end that all tests share is the end of all", "[suite]") {
  Machine machine{{{"1", Outcome::kCompilationError}}, {}};

  JobResult result = machine.run(job_of({test_of("1", "1"), test_of("2", "2")}), 1);

  CHECK(machine.ran == std::vector<std::string>{"1"});
  CHECK(result.verdict.label() == "CompilationError");
  CHECK(result.tests[0].skipped);
  CHECK(result.tests[1].skipped);
}

TEST_CASE("a long output is cut short in a test's result", "[suite]") {
  Machine machine;
  JobResult result = machine.run(job_of({test_of(std::string(100000, 'x'), "y")}));

  CHECK(result.tests[0].out.bytes.size() == 4096);
  CHECK(result.tests[0].out.truncated);
}

// A checker that ends as it is told; keeps the job it was given.
struct CheckedMachine {
  int code = 0;
  std::string err, message;
  Job seen;
  std::string score = {};
  JudgeScore kept = {};
  Job program = {};
  OutputFiles feedback = {};

  Verdict run(Job job) {
    std::optional<JobResult> got;
    Suite::Machine machine;
    machine.run = [this](Job run, Suite::Done done) {
      JobResult result;
      result.verdict = {Outcome::kOk, "", By::kProgram, {}};
      if (run.template_name == "checker") {
        result.verdict.outcome = Outcome::kNonZeroExit;
        result.exit = ExitStatus{false, code};
        result.err.bytes = err;
        if (!message.empty())
          result.files.files.push_back({"feedback/judgemessage.txt", message, false});
        if (!score.empty()) result.files.files.push_back({"feedback/score.txt", score, false});
        seen = std::move(run);
      } else {
        program = std::move(run);
      }
      done(std::move(result));
    };
    Suite::start(std::move(job), std::move(machine),
                 [&got](JobResult result) { got = std::move(result); });
    REQUIRE((got && got->tests.size() == 1));
    kept = got->tests[0].given;
    feedback = got->tests[0].feedback;
    return got->tests[0].verdict;
  }
};

Job checked_job() {
  Job job = job_of({test_of("1", "one")});
  job.tests[0].comparator = Comparator::kChecker;
  job.tests[0].checker_argv = {"of", "test"};
  job.checker.emplace();
  job.checker->template_name = "checker";
  job.checker->source = "source";
  job.checker->argv = {"common"};
  job.checker->protocol = Checker::Protocol::kIcpc;
  job.checker->limits.cpu = sys::Milliseconds(123);
  return job;
}

TEST_CASE("a checker has limits of its own, and the test's arguments after the common ones",
          "[suite]") {
  CheckedMachine machine{42, "", "", {}};

  CHECK(machine.run(checked_job()).ok());

  CHECK(machine.seen.limits.cpu == sys::Milliseconds(123));
  CHECK(machine.seen.argv ==
        std::vector<std::string>{"input.txt", "answer.txt", "feedback/", "common", "of", "test"});
}

TEST_CASE("what an ICPC checker writes to judgemessage.txt outranks its stderr", "[suite]") {
  CheckedMachine quiet{43, "to stderr\nmore", "", {}};
  CheckedMachine writes{43, "to stderr", "to the file\nmore", {}};
  using Words = std::pair<std::string, DetailValue>;

  CHECK(quiet.run(checked_job()).detail.front() == Words{"checker", "to stderr"});
  CHECK(writes.run(checked_job()).detail.front() == Words{"checker", "to the file"});
}

TEST_CASE("a score is asked for where it is wanted, and is no message", "[suite]") {
  using Words = std::pair<std::string, DetailValue>;
  CheckedMachine machine{43, "to stderr", "", {}, "7\n"};
  Job job = checked_job();
  CHECK(machine.run(job).detail.front() == Words{"checker", "to stderr"});
  CHECK(machine.seen.outputs == std::vector<std::string>{"feedback/judgemessage.txt"});
  CHECK_FALSE(machine.kept.score);

  job.checker->scores = true;
  CHECK(machine.run(job).detail.front() == Words{"checker", "to stderr"});
  CHECK(machine.seen.outputs.size() == 3);
  CHECK(machine.kept.score == 7);

  job.tests[0].scored = false;
  machine.run(job);
  CHECK_FALSE(machine.kept.score);
}

TEST_CASE("a score that is no number is the checker's mistake, unless the program failed",
          "[suite]") {
  Job job = checked_job();
  job.checker->scores = true;

  CHECK(CheckedMachine{42, "", "", {}, "many"}.run(job).label() == "BadJob");
  CHECK(CheckedMachine{43, "", "", {}, "many"}.run(job).label() == "WrongAnswer");
}

TEST_CASE("without a judgement there is no score", "[suite]") {
  Job job = checked_job();
  job.checker->scores = true;
  CheckedMachine breaks{9, "", "", {}, "5"}, rejects{43, "", "", {}, "5"};

  CHECK(breaks.run(job).label() == "BadJob");
  CHECK_FALSE(breaks.kept.score);
  CHECK(rejects.run(job).label() == "WrongAnswer");
  CHECK(rejects.kept.score == 5);
}

TEST_CASE("a checker that keeps its feedback finds it again, and gives back all of it", "[suite]") {
  CheckedMachine machine{42, "", "said", {}};
  Job job = checked_job();
  job.checker->keeps_feedback = true;
  job.tests[0].judge_files = {{"feedback/state", "s", false}};

  CHECK(machine.run(job).ok());

  CHECK(machine.seen.outputs == std::vector<std::string>{"feedback/**"});
  CHECK(machine.seen.run_files.front() == InputFile{"feedback/state", "s", false});
  REQUIRE(machine.feedback.files.size() == 1);
  CHECK(machine.feedback.files[0].content == "said");
}

TEST_CASE("further sources go with the program, and with its checker", "[suite]") {
  CheckedMachine machine{42, "", "", {}};
  Job job = checked_job();
  job.checker->sources = {"more.cpp"};

  CHECK(machine.run(job).ok());

  CHECK(machine.seen.sources == std::vector<std::string>{"more.cpp"});
}

TEST_CASE("files of a test, and flags, go with its program and not with its checker", "[suite]") {
  CheckedMachine machine{42, "", "", {}};
  Job job = checked_job();
  job.compiler_flags = {"-O3"};
  job.tests.front().files = {{"own", ""}};

  CHECK(machine.run(job).ok());

  CHECK(machine.program.run_files == job.tests.front().files);
  CHECK(machine.program.compiler_flags == job.compiler_flags);
  CHECK(machine.seen.compiler_flags.empty());
  CHECK(std::none_of(machine.seen.run_files.begin(), machine.seen.run_files.end(),
                     [](const InputFile& file) { return file.path == "own"; }));
}

TEST_CASE("rules of a test decide about its output", "[suite]") {
  Machine machine;
  Job job = job_of({test_of("YES", "yes"), test_of("Yes", "yes")});
  for (TestCase& test : job.tests) test.comparator = Comparator::kRules;
  job.tests[1].rules.case_counts = true;

  JobResult result = machine.run(std::move(job));

  CHECK(result.tests[0].verdict.ok());
  CHECK(result.tests[1].verdict.label() == "WrongAnswer");
}

}  // namespace
}  // namespace runtime
