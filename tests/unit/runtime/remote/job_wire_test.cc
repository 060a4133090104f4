#include "runtime/remote/job_wire.h"

#include <catch2/catch.hpp>

#include "runtime/json/job/job_json.h"
#include "runtime/json/result/result_json.h"
#include "runtime/remote/protocol.h"
#include "runtime/remote/wire.h"

namespace runtime {
namespace {

std::string bytes_of(const Job& job) {
  WireWriter out;
  write_job(job, out);
  return out.take();
}

// A job of which every field says something.
Job whole_job() {
  auto parsed = parse_job(
      R"({"id": "a", "tag": {"x": [1]}, "tenant": "t", "template": "cpp", "source": "é\n\u0000",
          "argv": ["", "b c"], "env": {"A": "1"}, "stdin": {"b64": "/wA="},
          "files": {"a/b": {"text": "x", "executable": true}, "empty": {"directory": true}},
          "sources": {"more.cpp": "int x;"}, "compiler_flags": ["-O3"], "outputs": ["*.txt"],
          "priority": -3, "deadline_ms": 5, "determinism": {"runs": 3, "mode": "fixed", "seed": 9, "clock_step_us": 0, "start": 5}, "stop": "first_fail",
          "tests": [{"stdin": "1", "expect": "2", "compare": "float:1e-9"}, {"compare": "checker", "expect": ""}],
          "checker": {"template": "cpp", "source": "c", "argv": ["1"], "protocol": "icpc"},
          "limits": {"cpu_ms": 1, "memory_mb": 7, "file_mb": 2, "stdout_kb": 9, "pids": 1},
          "policy": {"profile": "default", "on_violation": "kill", "require": ["full"]}})",
      {});
  REQUIRE(parsed);
  Job job = std::move(parsed).value();
  job.interactor = job.checker;
  job.source_has_coding = job.build_only = job.observe = job.array = true;
  job.mode = shim::Mode::kCall;
  job.func = "f";
  job.calls = "c";
  job.source_name = "main.cpp";
  job.source_names = {"more.cpp"};
  job.source_blob = "digest";
  job.tests_output = sys::kibibytes(3);
  job.tests[0].rules = {.case_counts = true, .space_counts = true, .absolute = 0.5, .relative = 2};
  job.tests[0].judge_files = {{.path = "l", .content = "to", .link = true}};
  job.policy.refusals = Refusals::kOverlooked;
  return job;
}

}  // namespace

TEST_CASE("a job comes over the wire as it is", "[remote]") {
  Job job = whole_job();
  job.run_files = {{"r", "1", true}};
  job.execution = Execution{.directory = "d",
                            .address_space = sys::mebibytes(1),
                            .file_size = {},
                            .stack = sys::mebibytes(2),
                            .errors = Execution::Errors::kNowhere};
  job.side = InteractivePair::Side::kInteractor;
  job.watch = std::make_shared<JobWatch>();
  job.watch->client = "who";
  job.recorded = std::make_shared<const RecordedJob>(RecordedJob{
      "{}", {.job = "1", .source = "2", .stdin_bytes = "3", .calls = "4", .files = {{"f", "5"}}}});

  const std::string bytes = bytes_of(job);
  WireReader in(bytes);
  Job read;
  REQUIRE(read_job(in, read));
  CHECK(in.at_end());
  CHECK(static_cast<const JobSpec&>(read) == static_cast<const JobSpec&>(job));
  CHECK(read.run_files == job.run_files);
  REQUIRE(read.execution);
  CHECK(read.execution->directory == "d");
  CHECK(read.execution->address_space == sys::mebibytes(1));
  CHECK_FALSE(read.execution->file_size);
  CHECK(read.execution->errors == Execution::Errors::kNowhere);
  CHECK(read.side == InteractivePair::Side::kInteractor);
  CHECK(read.watch->client == "who");
  REQUIRE(read.recorded);
  CHECK(*read.recorded == *job.recorded);
}

TEST_CASE("no beginning of a job is a job", "[remote]") {
  const std::string bytes = bytes_of(whole_job());
  for (size_t size = 0; size < bytes.size(); ++size) {
    WireReader in(std::string_view(bytes).substr(0, size));
    Job job;
    CHECK_FALSE(read_job(in, job));
  }
}

TEST_CASE("an enumeration, a flag and a size are what they can be", "[remote]") {
  SECTION("an enumerator that does not exist") {
    WireReader in("\x40");
    MessageKind read{};
    in(read);
    CHECK_FALSE(in.ok());
  }
  SECTION("a flag of two") {
    WireReader in("\x02");
    bool read = false;
    in(read);
    CHECK_FALSE(in.ok());
  }
  SECTION("a list that is longer than all that is left") {
    WireWriter out;
    out(uint64_t{1} << 60, uint64_t{7});
    const std::string bytes = out.take();
    WireReader in(bytes);
    std::vector<std::string> read;
    in(read);
    CHECK_FALSE(in.ok());
    CHECK(read.empty());
  }
}

TEST_CASE("a result comes over the wire as it is", "[remote]") {
  JobResult result;
  result.id = "a";
  result.tag = "[1]";
  result.verdict = {Outcome::kException,
                    "ValueError",
                    By::kProgram,
                    {{"message", std::string("x")}, {"n", int64_t{3}}, {"f", 0.5}, {"b", true}}};
  result.exit = ExitStatus{true, 9};
  result.out = {"out", 5, true};
  result.err = {"err", 3, false};
  result.array = true;
  result.exception = Exception{"ValueError", "m", "t", 7};
  result.usage = {.cpu_us = 1, .wall_us = 2, .stopped_us = 3, .memory_peak_bytes = 4};
  result.timing.run = 9;
  result.determinism = DeterminismReport{2, false, "value", "[0]", true, 9, {"rdtsc"}};
  result.compile = CompileReport{true, 5};
  TestResult& test = result.tests.emplace_back();
  test.name = "t";
  test.verdict.outcome = Outcome::kOk;
  test.given = {.score = 0.25, .multiplier = {}};
  result.files.files = {{"f", "1"}};
  result.files.refused = {{"g", "why"}};
  result.observed = {
      {"openat", ObservedCall::Treatment::kRefused, 1, "/etc", 2, sandbox::Profile::kBuild}};
  result.enforced = sandbox::Layers::all();
  result.level = sandbox::Level::kContained;
  result.template_id = "python@sha256:1";
  Origin origin{
      .zygo = "1", .kernel = "L", .machine = "m", .template_name = "t", .identity = "t@1"};
  origin.preloads = {"json"};
  origin.seed = 1;
  result.record = JobRecord{std::make_shared<const RecordedJob>(RecordedJob{"{}", {.job = "d"}}),
                            std::make_shared<const Origin>(origin)};

  WireWriter out;
  write_result(result, out);
  WireReader in(out.bytes());
  JobResult read;
  REQUIRE(read_result(in, read));
  CHECK(in.at_end());
  std::string before, after;
  append_result(result, before);
  append_result(read, after);
  CHECK(before == after);
  CHECK(read.usage.stopped_us == 3);
  CHECK(read.tests[0].given == test.given);
  REQUIRE((read.record && read.record->origin));
  CHECK(*read.record->origin == origin);
}

}  // namespace runtime
