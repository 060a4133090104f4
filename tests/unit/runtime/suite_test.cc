#include "runtime/suite.h"

#include <catch2/catch.hpp>
#include <map>

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

}  // namespace
}  // namespace runtime
