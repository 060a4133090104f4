#pragma once
// The closed set of outcomes, and the evidence and testimony that judge() makes them from. Plain
// values: no system header, no I/O, no clock.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/job/limits.h"
#include "shim/step.h"

namespace runtime {

enum class Outcome : uint8_t {
  kOk,
  kWrongAnswer,
  kException,
  kNonZeroExit,
  kSignalled,
  kCompilationError,
  kInvalidResult,
  kParsingCodeFailed,
  kTimeout,
  kMemoryLimit,
  kOutputLimit,
  kDiskLimit,
  kProcessLimit,
  kUnsafeCode,
  kNonDeterministic,
  kBadJob,
  kCancelled,
  kSandboxError,
};

// A family is all that code needs to know of a label to say verdicts in other words: exit codes,
// judges, APIs of others. A new label belongs to a family, and needs no more there.
enum class Family : uint8_t {
  kOk,
  kWrongAnswer,
  kFailed,     // the program came to an end of its own that is no good one
  kNoProgram,  // the source does not compile, or is not of its language
  kTime,
  kMemory,
  kOutput,
  kOtherLimit,
  kPolicy,
  kCancelled,
  kTrouble,  // the sandbox's or the caller's: nothing is said of the program
};
Family family_of(Outcome outcome);

enum class By : uint8_t { kProgram, kLimit, kPolicy, kCaller, kSandbox };

std::string_view name_of(
    Outcome outcome);  // the wire label; kException has none of its own: "Exception"
std::string_view name_of(By by);

// Detail of a verdict: a small ordered object. Keys are fixed words, values hostile text or
// numbers.
using DetailValue = std::variant<std::string, int64_t, double, bool>;
using Detail = std::vector<std::pair<std::string, DetailValue>>;

struct Verdict {
  Outcome outcome = Outcome::kSandboxError;
  std::string exception_type;  // kException only: the class name as the program has it
  By by = By::kSandbox;
  Detail detail;
  bool ok() const { return outcome == Outcome::kOk; }
  // The wire label: a name of the closed set, the class name, or "program.NAME" on a collision.
  std::string label() const;
};
// Outcome and exception type of a label, such as label() makes; the rest is not known from it.
Verdict verdict_labelled(std::string_view label);

// One refused operation. Evidence: the kernel's filter named call and arguments, the supervisor
// read the path or address. `line` and `event` are the interpreter's word (testimony).
struct Violation {
  std::string call;      // "openat", "socket", ...
  std::string argument;  // path, address or flags in words; may be empty
  int line = -1;
  std::string event;   // audit event, e.g. "open", "os.system"; may be empty
  uint32_t count = 1;  // how many attempts were refused
  bool operator==(const Violation&) const = default;
};

struct ExitStatus {
  bool signalled = false;
  int code = 0;  // exit code, or signal number when signalled
  bool operator==(const ExitStatus&) const = default;
};

enum class DeadlineKind : uint8_t { kNone, kCpu, kWall };
enum class Stream : uint8_t { kNone, kStdout, kStderr };
// What of the machine's, beside want of a CPU, may have kept a job from its end until its deadline.
enum class Slowness : uint8_t { kNone, kStolenTime, kDisk };

// The kernel and the supervisor know this about how a run ended. The program cannot forge it.
struct Evidence {
  // Our own trouble; either makes SandboxError.
  struct Fault {
    shim::Step step = shim::Step::kNone;
    int error = 0;  // errno; 0: the kernel was not asked
    std::string message;
    bool in_setup = false;             // of a cell, before it had its first job
    std::string name_of_step() const;  // "cell: make scratch", "fork"
    bool operator==(const Fault&) const = default;
  };
  std::optional<Fault> fault;
  bool cancelled = false;
  std::optional<Violation> violation;  // the first one; count tells how many
  bool killed_for_violation = false;
  uint32_t oom_kills = 0;     // the cell's OOM counter moved by this much
  bool memory_watch = false;  // no counter: the watch saw more than the limit and we killed
  DeadlineKind deadline = DeadlineKind::kNone;  // our clock fired and we killed
  Stream overflow = Stream::kNone;              // an output cap was passed and we killed
  bool disk_full = false;                       // scratch had no block or no inode left
  bool inodes_full = false;                     // it was the inodes
  bool disk_watch = false;    // no limits of its own: it held more than the job's, and that decides
  uint32_t pids_refused = 0;  // the cell's pids counter refused this many
  bool contended = false;     // it waited for a CPU for more than a fifth of its wall limit, or:
  Slowness slowed_by = Slowness::kNone;  // of a job that has met its wall limit
  bool ended_late = false;  // by itself, long after a wall deadline that nobody was there to see
  ExitStatus exit;
  // Limits and measurements, for the detail.
  Limits limits;
  int64_t wall_ms = 0, cpu_ms = 0, memory_peak_bytes = 0;
  int64_t waited_ms = 0;  // for a CPU: its wall limit came so much later
  bool operator==(const Evidence&) const = default;
};

// The program's side says this. It is bounded and decoded, and believed last; it may worsen a
// verdict only.
struct Exception {
  std::string type, message, traceback;
  int64_t line = -1;
  bool operator==(const Exception&) const = default;
};
struct Testimony {
  enum class Kind : uint8_t {
    kNothing,
    kFinished,
    kValue,
    kException,
    kInvalid,
    kExited,
    kGarbled
  };
  Kind kind = Kind::kNothing;
  std::string display;     // of a step's value: a dict in the value format
  bool call_mode = false;  // from the job, not from the program
  std::optional<Exception> exception;
  bool memory_error_by_interpreter = false;
  bool no_space_by_interpreter = false;
  bool no_thread_by_interpreter = false;
  bool could_not_start = false;
  std::string invalid_reason, invalid_path;
  std::string value;  // value format, checked by decode
};

}  // namespace runtime
