#include "runtime/json/job/job_writer.h"

#include <catch2/catch.hpp>

#include "runtime/json/job/job_json.h"

namespace runtime {
namespace {

JobSpec read(const std::string& line) {
  auto job = parse_job(line, {});
  if (!job) FAIL(job.error().text());
  return std::move(job).value();
}

}  // namespace

TEST_CASE("a job that is written is read as the same job", "[json][job]") {
  const std::string lines[] = {
      R"({"source": ""})",
      R"({"id": "a", "tag": {"x": [1, null]}, "tenant": "t", "template": "cpp", "source": "é\n\u0000",
          "argv": ["", "b c"], "env": {"A": "1", "B": ""}, "stdin": {"b64": "/wA="},
          "files": {"a/b": {"text": "x", "executable": true}, "bin": {"b64": "/w=="},
                    "empty": {"directory": true}},
          "sources": {"more.cpp": "int x;", "more.h": ""}, "compiler_flags": ["-O3"],
          "outputs": ["*.txt", "**/x"], "priority": -3, "deadline_ms": 5,
          "determinism": {"runs": 3, "mode": "fixed", "seed": 9007199254740991,
                          "clock_step_us": 1000000, "start": 0},
          "limits": {"cpu_ms": 1, "memory_mb": 7, "file_mb": 2, "stdout_kb": 9, "pids": 1},
          "policy": {"profile": "default", "on_violation": "kill", "require": ["full"]}})",
      R"({"source": {"blob":
          "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}})",
      R"({"source": "1", "mode": "call", "func": "f", "array": true,
          "calls": [{"args": [1, 2.5, 1e300, 12345678901234567890, "x", null, true, [[]]],
                     "kwargs": {"k": {"a": 1}}},
                    {"args": [{"$type": "tuple", "items": [1]},
                              {"$type": "set", "items": [3, 1]},
                              {"$type": "bytes", "data": "AAE="},
                              {"$type": "float", "value": "nan"},
                              {"$type": "dict", "items": [[1, 2]]}]}, {}]})",
      R"({"source": "1", "mode": "call", "func": "f", "inputs": [1, [2]]})",
      R"({"source": "1", "stop": "first_fail",
          "tests": [{"stdin": "1", "expect": "2"}, {"name": "own", "argv": ["a"],
                     "files": {"f": {"text": "1"}}, "expect": "x", "compare": "float:1e-9"},
                    {"compare": "checker", "expect": ""}, {"compare": "tokens"}],
          "checker": {"template": "cpp", "source": "c", "argv": ["1"], "protocol": "icpc",
                      "sources": {"h.h": "1"}, "files": {"x": {"text": "1"}},
                      "compiler_flags": ["-O1"]}})",
      R"({"source": "1", "tests": [{"stdin": ""}], "interactor": {"template": "c", "source": "i"}})",
      R"({"source": "1", "tests": [{"stdin": ""}],
          "interactor": {"template": "c", "source": "i", "protocol": "icpc", "feedback": true}})",
      R"({"source": "1", "mode": "call", "func": "f",
          "tests": [{"args": [1], "kwargs": {"a": 2}, "expect": {"b": [1.0]}},
                    {"args": [], "expect": "text", "compare": "float:0.5"},
                    {"args": [], "compare": "exact", "expect": "text"},
                    {"args": [], "compare": "exact"},
                    {"args": [], "compare": "exact", "expect": {"a": [1, 1.0, true, null,
                     {"$type": "tuple", "items": [{"$type": "set", "items": [3, 1]}]},
                     {"$type": "float", "value": "nan"},
                     {"$type": "ndarray", "dtype": "int8", "shape": [1], "data": [1]}]}}]})"};
  for (const std::string& line : lines) {
    INFO(line);
    const JobSpec job = read(line);
    const auto written = job_line(job);
    REQUIRE(written);
    INFO(*written);
    CHECK(read(*written) == job);
    const auto whole = job_line(job, Usual::kWritten);
    REQUIRE(whole);
    INFO(*whole);
    CHECK(read(*whole) == job);
  }
}

TEST_CASE("a whole job says every limit, and no default that is a lack of one", "[json][job]") {
  const std::string whole = *job_line(read(R"({"source": "1"})"), Usual::kWritten);

  for (const LimitRule& rule : kLimits) {
    const std::string name(rule.path.substr(std::string_view("limits.").size()));
    CHECK_THAT(whole, Catch::Contains("\"" + name + "\":"));
  }
  CHECK_THAT(whole, Catch::Contains("\"template\":\"python\""));
  for (const char* absent : {"profile", "deadline_ms", "id", "tenant", "argv", "calls", "seed",
                             "clock_step_us", "start"})
    CHECK_THAT(whole, !Catch::Contains(std::string("\"") + absent + "\""));
}

TEST_CASE("a whole job in fixed mode says what fixes it", "[json][job]") {
  const JobSpec job = read(R"({"source": "1", "determinism": {"mode": "fixed"}})");

  CHECK_THAT(*job_line(job, Usual::kWritten),
             Catch::Contains(R"("mode":"fixed","seed":0,"clock_step_us":1,"start":1577836800)"));
}

TEST_CASE("a job has no line where JSON cannot say it", "[json][job]") {
  JobSpec job;
  SECTION("bytes of a file in a coding of its own") { job.source_has_coding = true; }
  SECTION("a comparison of judges") { job.tests.emplace_back().comparator = Comparator::kRules; }
  SECTION("a link") { job.files.push_back({.path = "a", .content = "b", .link = true}); }
  CHECK_FALSE(job_line(job));
}

}  // namespace runtime
