#include "runtime/judging/judge.h"

#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <functional>

#include "runtime/judging/signal_names.h"

namespace runtime {
namespace {

using Kind = Testimony::Kind;

struct Run {
  Evidence seen;
  Testimony said;
};

Run good_script() {
  Run run;
  run.said.kind = Kind::kFinished;
  return run;
}
Run good_call() {
  Run run;
  run.said.kind = Kind::kValue;
  run.said.call_mode = true;
  run.said.value = std::string("l\0\0\0\0", 5);
  return run;
}
void raise(Run& run, const std::string& type) {
  run.said.kind = Kind::kException;
  run.said.exception = Exception{type, "why", "Traceback", 7};
}

Verdict judged(const Run& run) { return judge(run.seen, run.said); }

std::string detail_text(const Verdict& verdict, const std::string& key) {
  for (const auto& [name, value] : verdict.detail) {
    if (name != key) continue;
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
    if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? "true" : "false";
  }
  return "(absent)";
}

struct Cause {
  const char* name;
  std::function<void(Run&)> happen;
  std::string label;
  By by;
};

// In the order of precedence: of two causes, the one further up decides.
const std::vector<Cause>& causes() {
  static const std::vector<Cause> all = {
      {"cancelled", [](Run& r) { r.seen.cancelled = true; }, "Cancelled", By::kCaller},
      {"our fault",
       [](Run& r) {
         r.seen.fault = Evidence::Fault{shim::Step::kFork, 12, "no"};
       },
       "SandboxError", By::kSandbox},
      {"violation", [](Run& r) { r.seen.violation.emplace().call = "socket"; }, "UnsafeCode",
       By::kPolicy},
      {"oom kill", [](Run& r) { r.seen.oom_kills = 1; }, "MemoryLimitExceeded", By::kLimit},
      {"memory watch", [](Run& r) { r.seen.memory_watch = true; }, "MemoryLimitExceeded",
       By::kLimit},
      {"cpu deadline", [](Run& r) { r.seen.deadline = DeadlineKind::kCpu; }, "TimeoutException",
       By::kLimit},
      {"wall deadline", [](Run& r) { r.seen.deadline = DeadlineKind::kWall; }, "TimeoutException",
       By::kLimit},
      {"stdout", [](Run& r) { r.seen.overflow = Stream::kStdout; }, "OutputLimitExceeded",
       By::kLimit},
      {"stderr", [](Run& r) { r.seen.overflow = Stream::kStderr; }, "OutputLimitExceeded",
       By::kLimit},
      {"no space left in a write",
       [](Run& r) {
         raise(r, "OSError");
         r.said.no_space_by_interpreter = true;
       },
       "DiskLimitExceeded", By::kLimit},
      {"processes refused", [](Run& r) { r.seen.pids_refused = 3; }, "ProcessLimitExceeded",
       By::kLimit},
      {"exception", [](Run& r) { raise(r, "ValueError"); }, "ValueError", By::kProgram},
      {"signal", [](Run& r) { r.seen.exit = {.signalled = true, .code = 9}; }, "Signalled",
       By::kProgram},
      {"exit code",
       [](Run& r) {
         if (!r.seen.exit.signalled) r.seen.exit = {.signalled = false, .code = 3};
       },
       "NonZeroExit", By::kProgram},
      {"no answer",
       [](Run& r) {
         if (r.said.kind != Kind::kException) r.said.kind = Kind::kNothing;
       },
       "NonZeroExit", By::kProgram},
  };
  return all;
}

}  // namespace

TEST_CASE("a program that ends well is OK, and OK has no detail", "[judge]") {
  for (const Run& run : {good_script(), good_call()}) {
    CHECK(judged(run).label() == "OK");
    CHECK(judged(run).by == By::kProgram);
    CHECK(judged(run).ok());
    CHECK(judged(run).detail.empty());
  }
}

TEST_CASE("each cause alone has its label and its author", "[judge]") {
  for (const Cause& cause : causes()) {
    Run run = good_call();
    cause.happen(run);
    INFO(cause.name);
    CHECK(judged(run).label() == cause.label);
    CHECK(judged(run).by == cause.by);
    CHECK_FALSE(judged(run).ok());
  }
}

TEST_CASE("of two causes the one further up the precedence decides, whichever came first",
          "[judge]") {
  const auto& all = causes();
  for (size_t high = 0; high < all.size(); ++high) {
    for (size_t low = high + 1; low < all.size(); ++low) {
      Run one = good_call(), other = good_call();
      all[high].happen(one), all[low].happen(one);
      all[low].happen(other), all[high].happen(other);
      INFO(all[high].name << " and " << all[low].name);
      CHECK(judged(one).label() == all[high].label);
      CHECK(judged(other).label() == all[high].label);
    }
  }
}

TEST_CASE("every subset of evidence with every testimony gets a verdict, and OK only a clean one",
          "[judge]") {
  for (unsigned bits = 0; bits < 1024; ++bits) {
    for (int kind = 0; kind <= static_cast<int>(Kind::kGarbled); ++kind) {
      for (int shape = 0; shape < 6; ++shape) {
        Run run;
        for (size_t i = 0; i < 8; ++i)
          if (bits >> i & 1) causes()[i].happen(run);
        run.seen.pids_refused = bits >> 8 & 1;
        run.seen.disk_full = bits >> 9 & 1;
        run.said.kind = static_cast<Kind>(kind);
        run.said.call_mode = shape % 2 == 1;
        run.seen.exit = {.signalled = shape / 2 == 2, .code = shape / 2};

        const Verdict verdict = judged(run);

        const bool clean = (bits & 511) == 0 && shape / 2 == 0 &&
                           run.said.kind != Kind::kException &&
                           (!run.said.call_mode || run.said.kind == Kind::kValue);
        CHECK(verdict.ok() == clean);
        CHECK((verdict.by == By::kCaller) == run.seen.cancelled);
        CHECK((verdict.by == By::kSandbox) == (run.seen.fault.has_value() && !run.seen.cancelled));
      }
    }
  }
}

TEST_CASE("what a program says of itself never makes OK out of a bad end", "[judge]") {
  for (Run run : {good_script(), good_call()}) {
    run.seen.exit = {.signalled = false, .code = 1};
    CHECK(judged(run).label() == "NonZeroExit");
    run.seen.exit = {.signalled = true, .code = 11};
    CHECK(judged(run).label() == "Signalled");
  }
}

TEST_CASE("an exception with exit code 0 is still an exception", "[judge]") {
  Run run = good_script();
  raise(run, "KeyError");
  CHECK(judged(run).label() == "KeyError");
  CHECK(detail_text(judged(run), "line") == "7");
  run.said.exception.reset();
  CHECK(judged(run).label() == "Exception");
}

TEST_CASE("call mode without a complete value is NonZeroExit: ended before returning", "[judge]") {
  for (Kind kind : {Kind::kNothing, Kind::kExited, Kind::kFinished, Kind::kGarbled}) {
    Run run = good_call();
    run.said.kind = kind;
    CHECK(judged(run).label() == "NonZeroExit");
    CHECK(detail_text(judged(run), "reason") == "ended before returning");
  }
}

TEST_CASE("script mode with exit 0 is OK whatever the road, even with a garbled answer",
          "[judge]") {
  for (Kind kind : {Kind::kNothing, Kind::kExited, Kind::kFinished, Kind::kGarbled}) {
    Run run = good_script();
    run.said.kind = kind;
    CHECK(judged(run).ok());
  }
}

TEST_CASE("a MemoryError of the interpreter is the limit's, one that the program raised is its own",
          "[judge]") {
  Run run = good_call();
  raise(run, "MemoryError");
  CHECK(judged(run).label() == "MemoryError");

  run.said.memory_error_by_interpreter = true;
  run.seen.limits.memory = sys::Bytes{100663296};
  CHECK(judged(run).label() == "MemoryLimitExceeded");
  CHECK(detail_text(judged(run), "limit_bytes") == "100663296");
  CHECK(detail_text(judged(run), "source") == "MemoryError");
  CHECK(detail_text(judged(run), "line") == "7");
  CHECK(detail_text(judged(run), "message") == "why");

  run.seen.memory_watch = true;
  CHECK(detail_text(judged(run), "source") == "memory watch");
  run.seen.oom_kills = 1;
  CHECK(detail_text(judged(run), "source") == "oom counter");
}

TEST_CASE("flags of the interpreter count only with an uncaught exception", "[judge]") {
  Run run = good_call();
  run.said.memory_error_by_interpreter = true;
  run.said.no_space_by_interpreter = true;
  run.said.no_thread_by_interpreter = true;
  CHECK(judged(run).ok());
}

TEST_CASE("a full scratch decides only when the run failed", "[judge]") {
  Run run = good_call();
  run.seen.disk_full = true;
  CHECK(judged(run).ok());

  raise(run, "OSError");
  CHECK(judged(run).label() == "DiskLimitExceeded");
  CHECK(detail_text(judged(run), "limit") == "disk");
  CHECK(detail_text(judged(run), "source") == "scratch is full");

  run = good_script();
  run.seen.disk_full = true;
  run.seen.exit.code = 1;
  CHECK(judged(run).label() == "DiskLimitExceeded");
}

TEST_CASE("a file that grew beyond its own limit says so, whoever told of it", "[judge]") {
  Run run = good_script();
  run.seen.exit = {true, SIGXFSZ};
  CHECK(judged(run).label() == "Signalled");

  run.seen.limits.file = sys::mebibytes(1);
  CHECK(judged(run).label() == "DiskLimitExceeded");
  CHECK(detail_text(judged(run), "limit") == "file");
  CHECK(detail_text(judged(run), "limit_bytes") == "1048576");
  CHECK(detail_text(judged(run), "source") == "SIGXFSZ");

  run = good_call();
  run.seen.limits.file = sys::mebibytes(1);
  raise(run, "OSError");
  run.said.no_space_by_interpreter = true;
  CHECK(detail_text(judged(run), "limit") == "file");
  run.seen.disk_full = true;  // before the file had grown so large
  CHECK(detail_text(judged(run), "limit") == "disk");
}

TEST_CASE("a thread that could not start is ProcessLimitExceeded", "[judge]") {
  Run run = good_call();
  raise(run, "RuntimeError");
  run.said.no_thread_by_interpreter = true;
  CHECK(judged(run).label() == "ProcessLimitExceeded");
  CHECK(detail_text(judged(run), "source") == "RuntimeError");
  run.seen.pids_refused = 2;
  CHECK(detail_text(judged(run), "source") == "pids counter");
  CHECK(detail_text(judged(run), "limit") == "pids");
}

TEST_CASE("a thread for whose stack there is no memory is MemoryLimitExceeded", "[judge]") {
  Run run = good_call();
  raise(run, "RuntimeError");
  run.said.no_thread_by_interpreter = true;
  run.seen.limits.memory = sys::mebibytes(96);
  run.seen.memory_peak_bytes = int64_t{71} << 20;
  CHECK(judged(run).label() == "ProcessLimitExceeded");
  run.seen.memory_peak_bytes = int64_t{72} << 20;
  CHECK(judged(run).label() == "MemoryLimitExceeded");
  CHECK(detail_text(judged(run), "source") == "RuntimeError");
  run.seen.pids_refused = 1;
  CHECK(judged(run).label() == "ProcessLimitExceeded");
}

TEST_CASE("a timeout says which clock, the limit, what was measured, and if the machine was busy",
          "[judge]") {
  Run run = good_call();
  run.seen.deadline = DeadlineKind::kWall;
  run.seen.contended = true;
  run.seen.limits.wall = sys::Milliseconds(400);
  run.seen.wall_ms = 401;
  const Verdict verdict = judged(run);
  CHECK(detail_text(verdict, "limit") == "wall");
  CHECK(detail_text(verdict, "limit_ms") == "400");
  CHECK(detail_text(verdict, "measured_ms") == "401");
  CHECK(detail_text(verdict, "contended") == "true");
}

TEST_CASE("a timeout on a machine that was slow says in what way", "[judge]") {
  Run run = good_call();
  run.seen.deadline = DeadlineKind::kWall;
  CHECK(detail_text(judged(run), "slowed_by") == "(absent)");
  run.seen.slowed_by = Slowness::kDisk;
  CHECK(detail_text(judged(run), "slowed_by") == "disk");
  run.seen.slowed_by = Slowness::kStolenTime;
  CHECK(detail_text(judged(run), "slowed_by") == "stolen time");
}

TEST_CASE("a violation names call, argument, operation, line, count and policy", "[judge]") {
  Run run = good_call();
  run.seen.violation = Violation{"openat", "/etc/passwd", 3, "open", 2};
  CHECK(detail_text(judged(run), "syscall") == "openat");
  CHECK(detail_text(judged(run), "argument") == "/etc/passwd");
  CHECK(detail_text(judged(run), "operation") == "open");
  CHECK(detail_text(judged(run), "line") == "3");
  CHECK(detail_text(judged(run), "count") == "2");
  CHECK(detail_text(judged(run), "policy") == "deny");
  run.seen.killed_for_violation = true;
  CHECK(detail_text(judged(run), "policy") == "kill");
}

TEST_CASE("our fault names the step and errno, and an invalid result the reason and the place",
          "[judge]") {
  Run run = good_call();
  run.said.kind = Kind::kInvalid;
  run.said.invalid_reason = "cycle";
  run.said.invalid_path = "[0]";
  CHECK(judged(run).label() == "InvalidResult");
  CHECK(detail_text(judged(run), "reason") == "cycle");
  CHECK(detail_text(judged(run), "where") == "[0]");

  run.seen.fault = Evidence::Fault{shim::Step::kFork, 12, "out of memory"};
  CHECK(detail_text(judged(run), "step") == "fork");
  CHECK(detail_text(judged(run), "errno") == "12");
}

TEST_CASE("a program that cannot be compiled keeps the exception's class name", "[judge]") {
  Run run = good_script();
  raise(run, "SyntaxError");
  run.said.could_not_start = true;
  run.seen.exit.code = 1;
  CHECK(judged(run).label() == "SyntaxError");
  CHECK(judged(run).by == By::kProgram);
  CHECK(detail_text(judged(run), "stage") == "compile");
}

TEST_CASE("a class whose name is one of our labels is shown as program.NAME", "[judge][label]") {
  for (unsigned i = 0; i <= static_cast<unsigned>(Outcome::kSandboxError); ++i) {
    const auto outcome = static_cast<Outcome>(i);
    if (outcome == Outcome::kException) continue;
    const std::string name(name_of(outcome));
    CHECK(Verdict{.outcome = outcome, .exception_type = {}, .detail = {}}.label() == name);
    Run run = good_call();
    raise(run, name);
    CHECK(judged(run).label() == "program." + name);
  }
  Run run = good_call();
  raise(run, "");
  CHECK(judged(run).label() == "Exception");
}

TEST_CASE("signals have the names of signal(7)", "[judge]") {
  CHECK(signal_name(9) == "SIGKILL");
  CHECK(signal_number("SIGKILL") == 9);
  CHECK(signal_number("SIGRTMIN+30") == 64);
  CHECK_FALSE(signal_number("SIGNOTHING"));
  CHECK(signal_name(31) == "SIGSYS");
  CHECK(signal_name(24) == "SIGXCPU");
  CHECK(signal_name(34) == "SIGRTMIN");
  CHECK(signal_name(64) == "SIGRTMIN+30");
  CHECK(signal_name(0) == "signal 0");
  CHECK(signal_name(-5) == "signal -5");
}

}  // namespace runtime
