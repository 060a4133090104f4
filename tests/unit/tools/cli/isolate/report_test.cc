#include "tools/cli/isolate/report.h"

#include <catch2/catch.hpp>
#include <cerrno>

namespace cli {
namespace {

using runtime::By;
using runtime::JobResult;
using runtime::Outcome;
using Exit = std::optional<runtime::ExitStatus>;

JobResult ended(Outcome outcome, Exit exit = std::nullopt, runtime::Detail detail = {}) {
  JobResult result;
  result.verdict = {outcome, "", By::kProgram, std::move(detail)};
  result.exit = exit;
  result.usage.cpu_us = 1'234'567;
  result.usage.wall_us = 2'000'999;
  result.enforced = result.enforced.with(sandbox::Layer::kCgroupMemory);
  result.usage.memory_peak_bytes = 10 * 1024 * 1024;
  return result;
}

std::string meta(const JobResult& result, const IsolateOptions& options, uint64_t placed = 0) {
  return meta_text(end_of(result, options), result, options, placed);
}

}  // namespace

TEST_CASE("every outcome has a status and an exit code of isolate's", "[cli][isolate]") {
  using Status = IsolateEnd::Status;
  using Row = std::tuple<Outcome, Exit, Status, int, int>;
  const runtime::ExitStatus well{false, 0}, badly{false, 3}, killed{true, 9};
  auto [outcome, exit, status, signal, code] = GENERATE_COPY(values<Row>({
      {Outcome::kOk, well, Status::kWell, 0, 0},
      {Outcome::kNonZeroExit, badly, Status::kRunTimeError, 0, 1},
      {Outcome::kSignalled, runtime::ExitStatus{true, 11}, Status::kSignal, 11, 1},
      {Outcome::kTimeout, killed, Status::kTimeout, 0, 1},
      {Outcome::kMemoryLimit, killed, Status::kSignal, 9, 1},
      {Outcome::kOutputLimit, killed, Status::kSignal, 25, 1},
      {Outcome::kUnsafeCode, well, Status::kSignal, 31, 1},
      {Outcome::kProcessLimit, well, Status::kWell, 0, 0},
      {Outcome::kDiskLimit, badly, Status::kRunTimeError, 0, 1},
      {Outcome::kCancelled, std::nullopt, Status::kSignal, 0, 1},
      {Outcome::kBadJob, std::nullopt, Status::kSandbox, 0, 2},
      {Outcome::kSandboxError, std::nullopt, Status::kSandbox, 0, 2},
      {Outcome::kDiskLimit, std::nullopt, Status::kSandbox, 0, 2},
  }));
  const IsolateEnd end = end_of(ended(outcome, exit), {});

  CHECK(end.status == status);
  CHECK(end.signal == signal);
  CHECK(end.exit_code == code);
}

TEST_CASE("what cannot be executed is its maker's fault, what has no room is ours",
          "[cli][isolate]") {
  const auto not_executed = [](int64_t error) {
    return ended(Outcome::kSandboxError, std::nullopt,
                 {{"step", std::string("execute")}, {"errno", error}});
  };
  const int64_t theirs = GENERATE(ENOEXEC, ENOENT, EACCES, ELIBBAD);
  const int64_t ours = GENERATE(ENOMEM, EAGAIN, EMFILE);

  CHECK(end_of(not_executed(theirs), {}).exit_code == 1);
  CHECK(meta(not_executed(theirs), {})
            .ends_with("exitcode:127\nstatus:RE\nmessage:Exited with error status 127\n"));
  CHECK(end_of(not_executed(ours), {}).status == IsolateEnd::Status::kSandbox);
}

TEST_CASE("a meta file has isolate's keys in isolate's order", "[cli][isolate]") {
  IsolateOptions options;
  options.groups = true;

  CHECK(meta(ended(Outcome::kOk, runtime::ExitStatus{}), options, 4 * 1024 * 1024) ==
        "time:1.234\ntime-wall:2.000\nmax-rss:0\ncsw-voluntary:0\ncsw-forced:0\ncg-mem:6144\n"
        "exitcode:0\n");
  CHECK(
      meta(ended(Outcome::kTimeout, runtime::ExitStatus{true, 9}, {{"limit", std::string("wall")}}),
           {}) ==
      "status:TO\nmessage:Time limit exceeded (wall clock)\nkilled:1\ntime:1.234\n"
      "time-wall:2.000\nmax-rss:0\ncsw-voluntary:0\ncsw-forced:0\n");
  CHECK(
      meta(ended(Outcome::kMemoryLimit), options).find("cg-oom-killed:1\nexitsig:9\nstatus:SG\n") !=
      std::string::npos);
  CHECK(meta_text(trouble("two\nlines")) == "status:XX\nmessage:two lines\n");
}

TEST_CASE("a program that stayed below the extra time is late all the same", "[cli][isolate]") {
  IsolateOptions options;
  options.time = sys::Milliseconds(1000);
  const JobResult result = ended(Outcome::kOk, runtime::ExitStatus{});

  const IsolateEnd end = end_of(result, options);

  CHECK(end.message == "Time limit exceeded");
  CHECK_FALSE(end.killed);
  CHECK(status_line(end_of(result, {}), result) == "OK (1.234 sec real, 2.000 sec wall)");
}

}  // namespace cli
