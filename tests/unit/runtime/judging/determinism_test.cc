#include "runtime/judging/determinism.h"

#include <catch2/catch.hpp>

#include "runtime/values/value.h"

using namespace runtime;

namespace {

JobResult ended(Outcome outcome, const std::string& printed, int64_t value) {
  JobResult result;
  result.verdict = {outcome, outcome == Outcome::kException ? "ValueError" : "", By::kProgram, {}};
  result.out.bytes = printed;
  result.out.total = printed.size();
  Writer writer;
  writer.container(shim::Tag::kList, 1);
  writer.integer(value);
  result.value = writer.take();
  return result;
}

}  // namespace

TEST_CASE("two runs that end alike keep the first run's verdict and say that they are the same",
          "[determinism]") {
  JobResult first = ended(Outcome::kOk, "a\n", 1);

  compare_runs(first, ended(Outcome::kOk, "a\n", 1), 2);

  CHECK(first.verdict.label() == "OK");
  REQUIRE(first.determinism);
  CHECK(first.determinism->same);
  CHECK(first.determinism->runs == 2);
}

TEST_CASE("the first difference is named: label before value, value before stdout",
          "[determinism]") {
  struct Row {
    JobResult later;
    const char* axis;
    const char* where;
  };
  const Row rows[] = {
      {ended(Outcome::kException, "b\n", 2), "outcome", "label"},
      {ended(Outcome::kOk, "b\n", 2), "value", "[0]"},
      {ended(Outcome::kOk, "line\nb\n", 1), "stdout", "byte 5, line 2"},
      {ended(Outcome::kOk, "line\nother, longer\n", 1), "stdout", "byte 5, line 2"},
  };
  for (const Row& row : rows) {
    JobResult first = ended(Outcome::kOk, "line\na\n", 1);

    compare_runs(first, row.later, 2);

    CHECK(first.verdict.label() == "NonDeterministicCode");
    CHECK(first.verdict.by == By::kPolicy);
    CHECK(first.determinism->axis == row.axis);
    CHECK(first.determinism->where == row.where);
    CHECK_FALSE(first.value.empty());  // what the first run gave is kept
  }
}

TEST_CASE("what fixed mode does not reach is named, by what the program is and where it runs",
          "[determinism]") {
  using Words = std::vector<std::string>;

  CHECK(not_fixed({}) == Words{"file metadata"});
  CHECK(not_fixed({.is_executed = true}) == Words{"file metadata", "rdtsc"});
  CHECK(not_fixed({.is_executed = true, .is_preloaded = false}) ==
        Words{"file metadata", "rdtsc", "static program"});
  CHECK(not_fixed({.had_unfixed_child = true}) == Words{"file metadata", "static program"});
  CHECK(not_fixed({.is_executed = true,
                   .is_preloaded = false,
                   .has_own_pids = false,
                   .has_addresses = false,
                   .had_company = true}) ==
        Words{"addresses", "file metadata", "pid", "rdtsc", "static program", "thread order"});
}

TEST_CASE("below full paths and ids are the host's", "[determinism]") {
  using Words = std::vector<std::string>;

  CHECK(not_fixed({.has_own_pids = false, .has_own_view = false}) ==
        Words{"file metadata", "paths", "pid", "thread order", "uid"});
}

TEST_CASE("what may differ in one of several runs may differ", "[determinism]") {
  std::vector<std::string> words = {"a", "c"};
  add_not_fixed({"b", "c"}, words);

  CHECK(words == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("runs in fixed mode are compared like others, and the report of the mode stays",
          "[determinism]") {
  JobResult first = ended(Outcome::kOk, "a\n", 1);
  first.determinism.emplace();
  first.determinism->fixed = true;
  first.determinism->seed = 7;
  first.determinism->not_fixed = {"rdtsc"};

  compare_runs(first, ended(Outcome::kOk, "b\n", 1), 2);

  CHECK(first.verdict.label() == "NonDeterministicCode");
  CHECK(first.determinism->runs == 2);
  CHECK(first.determinism->seed == 7);
  CHECK(first.determinism->not_fixed == std::vector<std::string>{"rdtsc"});
}

TEST_CASE("a value on one side only is a difference of value", "[determinism]") {
  JobResult first = ended(Outcome::kOk, "", 1);
  JobResult later = ended(Outcome::kOk, "", 1);
  later.value.clear();

  compare_runs(first, later, 2);

  CHECK(first.determinism->axis == "value");
}

TEST_CASE("a first run that ended by limit, policy, caller or sandbox stands alone",
          "[determinism]") {
  CHECK_FALSE(stands_alone({Outcome::kOk, "", By::kProgram, {}}));
  CHECK_FALSE(stands_alone({Outcome::kException, "KeyError", By::kProgram, {}}));
  CHECK(stands_alone({Outcome::kTimeout, "", By::kLimit, {}}));
  CHECK(stands_alone({Outcome::kUnsafeCode, "", By::kPolicy, {}}));
  CHECK(stands_alone({Outcome::kSandboxError, "", By::kSandbox, {}}));
}
