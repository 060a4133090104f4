#pragma once
// JobSpec: one program with its inputs and limits, as the caller asked for it; made by
// json/job_json from bytes. Job: the same on its way through the engine. The field meanings are the
// contract's (docs/jobs.md).

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/job/comparator.h"
#include "runtime/job/interactive_pair.h"
#include "runtime/job/limits.h"
#include "runtime/job/record.h"
#include "sandbox/policy.h"
#include "sandbox/sys/units.h"
#include "shim/value_format.h"

namespace runtime {

struct InputFile {
  std::string path;  // relative, inside the working directory; "NAME/": an empty directory
  std::string content;
  bool executable = false;
  bool link = false;      // a symbolic link, to what the content names
  std::string blob = {};  // a digest in place of the content, until the engine has filled it in
  bool operator==(const InputFile&) const = default;
};

// Tells whether a call that the policy refuses decides how the job ended. It is refused either way.
enum class Refusals : uint8_t {
  kDecide,      // UnsafeCode, also when the program got over it
  kOverlooked,  // an error like others: tools try what they can do without
};

struct Policy {
  sandbox::Profile profile = sandbox::Profile::kDefault;
  bool has_profile = false;  // named by the caller; else a runtime's own takes its place
  // True for a command: its profile and refusals are those of its program (command_rule.h).
  bool by_program = false;
  Refusals refusals = Refusals::kDecide;
  sandbox::OnViolation on_violation = sandbox::OnViolation::kDeny;
  std::vector<std::string> require;  // a level and/or layers this job insists on
  bool operator==(const Policy&) const = default;
};

// One test of a program. Script mode gives stdin and argv, call mode one call.
struct TestCase {
  std::string name;
  std::string stdin_bytes;
  std::vector<std::string> argv;
  std::string calls;  // value format, as in a Job: a list of one
  // On stdout; in call mode the value, as JSON (of Comparator::kValue: in the value format).
  std::optional<std::string> expect;
  Comparator comparator = Comparator::kLines;
  double tolerance = 0;
  TokenRules rules;                       // of Comparator::kRules
  std::vector<std::string> checker_argv;  // of this test, after the checker's own
  std::vector<InputFile> files;           // this test's alone, over the job's
  std::vector<InputFile> judge_files;     // what checker or interactor finds of it in feedback/
  bool scored = true;                     // whether a score that its judge gives counts
  bool operator==(const TestCase&) const = default;
};

// A program that says whether an output is right. It runs in a cell of its own and sees the test.
struct Checker {
  // kTestlib: arguments input, output, answer; 0 is right, 1 and 2 are wrong. kIcpc: arguments
  // input, answer, feedback/, then argv; the output on stdin; 42 is right, 43 wrong.
  enum class Protocol : uint8_t { kTestlib, kIcpc };
  std::string template_name, source;
  std::vector<InputFile> files;
  std::vector<std::string> sources, compiler_flags;  // as in Job
  std::vector<std::string> argv;
  Protocol protocol = Protocol::kTestlib;
  bool scores = false;          // the scores that it gives are wanted: a TestResult's JudgeScore
  bool keeps_feedback = false;  // kIcpc: all of feedback/ is wanted, in TestResult::feedback
  Limits limits;
  bool operator==(const Checker&) const = default;
};

// How a program of the template `command` is started as it stands: found by its path alone, in the
// job's scratch or in the image, with no variable and no limit but those that are named.
struct Execution {
  enum class Errors : uint8_t { kApart, kWithOutput, kNowhere };
  std::string directory;  // where it starts; empty: the scratch
  // Limits of each of its processes; none: no such limit. Only `stack` has a usual value.
  std::optional<sys::Bytes> address_space, file_size, stack;
  Errors errors = Errors::kApart;  // where standard error goes
  int stdout_fd = -1;              // a pipe in place of what is captured; borrowed
};

class Holding;

// The caller and the engine tell each other here about a job that is under way; any thread.
struct JobWatch {
  std::atomic<bool> withdrawn{false};  // by the caller; Engine::cancel_withdrawn() acts on it
  std::atomic<bool> started{false};    // by the engine: a cell has it
  // The same, where an engine in another process notes it; none: it is in this one. Set before the
  // job is submitted, and changed by whoever submits.
  std::shared_ptr<const std::atomic<bool>> started_elsewhere;
  bool has_started() const { return started || (started_elsewhere && *started_elsewhere); }
  // Called when a cell has it, on a shard's thread; none: nobody wants to know.
  std::function<void()> on_start;
  void begin() {
    started = true;
    if (on_start) on_start();
  }
  std::shared_ptr<Holding> held;  // what its runs write is counted there; none: nowhere
  // The client that takes turns with others for the workers (Shares); set before the job is
  // submitted. Empty: none.
  std::string client;
  // The trace that it belongs to, as a header `traceparent` says it; the same. Engines tell it to
  // those elsewhere that run the job. Empty: none.
  std::string trace;
};

class LiveIo;
struct Artefact;
struct Node;

// What does not come from the program is the same in every run: clocks, randomness, addresses.
struct FixedMode {
  static constexpr int64_t kMaxSeed = (int64_t{1} << 53) - 1;
  static constexpr int64_t kMaxStart = 4'102'444'800;  // 2100; clocks are nanoseconds in 63 bits
  bool on = false;
  int64_t seed = 0;
  int64_t clock_step_us = 1;      // that each reading of a clock adds; 0: clocks stand still
  int64_t start = 1'577'836'800;  // seconds since 1970: 2020-01-01T00:00:00Z
  bool operator==(const FixedMode&) const = default;
};

// The session of a job that begins one.
inline constexpr const char* kNewSession = "new";

// A job as its caller says it: pure, comparable, and written to and read from JSON.
struct JobSpec {
  std::string id;
  std::string tag = "null";  // any JSON, echoed
  // The owner: cells, templates, builds and blobs of one tenant are never another's. Empty: the
  // common one. It may be any bytes; the front end decides who may choose it.
  std::string tenant;
  std::string template_name = "python";
  std::string source;
  std::string source_blob;  // in its place, as in InputFile
  // The bytes of a file, whose coding line counts (PEP 263). Else text: it is UTF-8.
  bool source_has_coding = false;
  // For runtimes that are packages: what the source is called, and the names that the compiler is
  // called with. Empty: as the runtime says, and that one.
  std::string source_name;
  std::vector<std::string> source_names;
  shim::Mode mode = shim::Mode::kScript;
  bool shell = false;  // a step whose source is a command of the shell
  std::string func;
  std::string calls;  // value format: list of [args, kwargs]; empty in script mode
  bool array = false;
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> env;
  std::string stdin_bytes;
  std::vector<InputFile> files;
  std::vector<std::string> sources;  // paths among `files`: compiled together with the source
  std::vector<std::string> compiler_flags;
  std::vector<std::string> outputs;  // globs: files of the scratch that are collected at the end
  std::vector<TestCase> tests;       // empty: the job is run once, as it is
  bool stop_at_failure = false;
  // So much of the tests' output is kept in all, beyond what is kept of each.
  sys::Bytes tests_output{0};
  std::optional<Checker> checker;
  std::optional<Checker> interactor;  // talks with the program; its argv as a checker's
  bool build_only = false;            // ends when there is something to run
  Limits limits;
  Policy policy;
  unsigned determinism_runs = 1;
  FixedMode fixed;
  // A step of a session: the job finds what the steps before it left, and what it leaves is kept as
  // a node that others can go on from (docs/sessions.md). The node to go on from, or kNewSession;
  // empty: the job is no step.
  std::string session;
  bool is_step() const { return !session.empty(); }
  bool keep = true;   // the node of a step; else it leaves none
  uint64_t seed = 0;  // of a step's chance; 0: drawn for each run
  int priority = 0;
  std::optional<sys::Milliseconds> deadline;
  bool observe = false;  // `zygo run --observe`: count every system call
  bool record = false;   // the result repeats the job and says where it ran: JobRecord
  bool operator==(const JobSpec&) const = default;
};

// A job that is on its way: what its caller said, and what is attached to this one run.
struct Job : JobSpec {
  int stdin_fd = -1;  // `zygo run`: the program's stdin is copied from here; borrowed
  std::shared_ptr<const RecordedJob> recorded;  // what it was when it was read; for `record`
  // Like `files`, but no compiler sees them. One takes the place of the file of its name.
  std::vector<InputFile> run_files;
  // The program that a command executes, in the place of a program of the image.
  std::shared_ptr<const Artefact> program;
  std::optional<Execution> execution;
  std::shared_ptr<InteractivePair> pairing;  // of one side of a conversation
  InteractivePair::Side side = InteractivePair::Side::kProgram;
  std::shared_ptr<const Node> node;  // that a step goes on from, when the engine has found it
  std::shared_ptr<LiveIo> live;      // somebody takes part while it runs; it is run once
  std::shared_ptr<JobWatch> watch;   // none: only all jobs can be cancelled together
  bool is_withdrawn() const { return watch && watch->withdrawn; }
};

}  // namespace runtime
