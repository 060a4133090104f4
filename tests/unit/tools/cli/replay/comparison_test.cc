#include "tools/cli/replay/comparison.h"

#include <catch2/catch.hpp>

#include "runtime/values/value.h"

namespace cli {
namespace {

using runtime::JobResult;

JobResult ended_as(const std::string& label, runtime::By by = runtime::By::kProgram) {
  JobResult result;
  result.verdict = runtime::verdict_labelled(label);
  result.verdict.by = by;
  return result;
}

JobResult printed(const std::string& text) {
  JobResult result = ended_as("OK");
  result.out = {text, text.size(), false};
  return result;
}

JobResult returned(int64_t number) {
  JobResult result = ended_as("OK");
  runtime::Writer out;
  out.container(shim::Tag::kList, 2);
  out.integer(1);
  out.integer(number);
  result.value = out.take();
  return result;
}

}  // namespace

TEST_CASE("times, memory and the place where it ran are no difference", "[cli][replay]") {
  JobResult here = printed("a");
  here.usage.cpu_us = 5;
  here.timing.run = 7;
  here.template_id = "python@sha256:0";
  here.id = "other";

  CHECK(difference_of(printed("a"), here) == std::nullopt);
}

TEST_CASE("the label comes first", "[cli][replay]") {
  JobResult here = ended_as("KeyError");
  here.out = {"b", 1, false};

  CHECK(difference_of(printed("a"), here) == Difference{"label", "", {}, "OK", "KeyError"});
}

TEST_CASE("of a label that a limit decided only the label is compared", "[cli][replay]") {
  JobResult slow = ended_as("TimeoutException", runtime::By::kLimit), slower = slow;
  slow.verdict.detail = {{"measured_ms", int64_t{100}}};
  slow.out = {"1\n2\n", 4, false};
  slower.exit = runtime::ExitStatus{true, 9};

  CHECK(difference_of(slow, slower) == std::nullopt);
  CHECK(difference_of(slow, ended_as("OK"))->axis == "label");
}

TEST_CASE("the first byte of output that differs has a line and a column", "[cli][replay]") {
  const auto found = difference_of(printed("one\ntwo\nthr\xC3\xA9\xC3\xA9x"),
                                   printed("one\ntwo\nthr\xC3\xA9\xC3\xA8x"));

  REQUIRE(found);
  CHECK(found->axis == "stdout");
  CHECK(found->place == Difference::Place{13, 3, 5});
  CHECK(found->recorded == "\"ne\\ntwo\\nthr\xC3\xA9\xC3\xA9x\"");
  CHECK(found->here == "\"ne\\ntwo\\nthr\xC3\xA9\xC3\xA8x\"");
}

TEST_CASE("an output that goes on differs where the other ends", "[cli][replay]") {
  const auto found = difference_of(printed("a\n"), printed("a\nb"));

  REQUIRE(found);
  CHECK(found->place == Difference::Place{2, 2, 1});
  CHECK(found->here == "\"a\\nb\"");
}

TEST_CASE("bytes that were not kept count by their number", "[cli][replay]") {
  JobResult here = printed("a");
  here.out.total = 9;

  CHECK(difference_of(printed("a"), here) ==
        Difference{"stdout", "bytes", {}, "1 bytes", "9 bytes"});
}

TEST_CASE("values differ at a path", "[cli][replay]") {
  CHECK(difference_of(returned(2), returned(2)) == std::nullopt);
  CHECK(difference_of(returned(2), returned(3)) == Difference{"value", "[1]", {}, "2", "3"});
  CHECK(difference_of(returned(2), ended_as("OK")) == Difference{"value", "", {}, "[1,2]", "null"});
}

TEST_CASE("exit, detail, exception, files and tests are compared", "[cli][replay]") {
  const JobResult plain = ended_as("ValueError");
  const auto axis_with = [&plain](auto change) {
    JobResult here = plain;
    change(here);
    const auto found = difference_of(plain, here);
    return found ? found->axis : "";
  };

  CHECK(axis_with([](JobResult&) {}).empty());
  CHECK(axis_with([](JobResult& r) { r.exit = runtime::ExitStatus{false, 1}; }) == "exit");
  CHECK(axis_with([](JobResult& r) { r.verdict.detail = {{"line", int64_t{3}}}; }) == "detail");
  CHECK(axis_with([](JobResult& r) { r.err = {"x", 1, false}; }) == "stderr");
  CHECK(axis_with([](JobResult& r) {
          r.exception = runtime::Exception{"E", "m", "", 1};
        }) == "exception");
  CHECK(axis_with([](JobResult& r) { r.files.files.push_back({"f", "x"}); }) == "outputs");
  CHECK(axis_with([](JobResult& r) { r.tests.emplace_back(); }) == "tests");
  CHECK(axis_with([](JobResult& r) {
          r.determinism = runtime::DeterminismReport{2, true, "", ""};
        }) == "determinism");
}

TEST_CASE("of fixed mode the seed and what is not fixed are compared", "[cli][replay]") {
  JobResult recorded = ended_as("OK");
  recorded.determinism.emplace();
  recorded.determinism->fixed = true;
  recorded.determinism->not_fixed = {"file metadata"};
  JobResult seed = recorded, words = recorded;
  seed.determinism->seed = 1;
  words.determinism->not_fixed.emplace_back("rdtsc");

  CHECK(difference_of(recorded, recorded) == std::nullopt);
  for (const JobResult& here : {seed, words}) {
    const auto found = difference_of(recorded, here);
    REQUIRE(found);
    CHECK(found->axis == "determinism");
  }
}

TEST_CASE("a test's difference names the test", "[cli][replay]") {
  JobResult recorded = ended_as("OK"), here = recorded;
  recorded.tests.resize(2);
  for (auto& test : recorded.tests) test.verdict = runtime::verdict_labelled("OK");
  here.tests = recorded.tests;
  here.tests[1].out = {"x", 1, false};

  const auto found = difference_of(recorded, here);

  REQUIRE(found);
  CHECK((found->axis == "stdout" && found->where == "tests[1]"));
}

TEST_CASE("bytes that JSON cannot say are alike once they are written", "[cli][replay]") {
  const JobResult recorded = as_written(printed("a\xFF"));

  CHECK(difference_of(recorded, as_written(printed("a\xFE"))) == std::nullopt);
  CHECK(difference_of(recorded, as_written(printed("b\xFF"))));
}

}  // namespace cli
