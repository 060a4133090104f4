#pragma once
// JobResult: everything zygo says about one job. Written as JSON, and read, by json/result.

#include <optional>
#include <string>
#include <vector>

#include "runtime/job/holding.h"
#include "runtime/job/job.h"
#include "runtime/job/outcome.h"
#include "sandbox/policy.h"
#include "sandbox/sys/units.h"
#include "shim/protocol.h"

namespace runtime {

struct Output {
  std::string bytes;   // what was kept, raw
  uint64_t total = 0;  // what the program wrote, as far as it was read
  bool truncated = false;
};

struct Usage {
  int64_t cpu_us = 0, wall_us = 0;  // until its first process was reaped
  // When zygo ended the program: until every process of it had been sent its kill. It does nothing
  // more from then on, but has to be scheduled once more to be reaped.
  std::optional<int64_t> stopped_us = {};
  int64_t memory_peak_bytes = 0;  // approximate: the cell's peak above its base
  uint32_t pids_peak = 1;
  bool contended = false;
  // How often it was judged anew, because the machine had been slow; and the CPU time of the runs
  // whose verdicts were not told.
  uint32_t reruns = 0;
  int64_t rerun_cpu_us = 0;
  // These count the first process and those it waited for; they are not in JSON.
  int64_t max_rss_kb = 0, switches_voluntary = 0, switches_forced = 0;
};

struct Timing {  // microseconds spent at each station
  int64_t admit = 0, lease = 0, fork = 0, confine = 0, run = 0, collect = 0, judge = 0;
  // Where the job borrowed its memory: until that was brought back, or written down how. Within
  // `collect`.
  std::optional<int64_t> rollback = {};
};

struct DeterminismReport {
  unsigned runs = 1;
  bool same = true;
  std::string axis;   // "outcome", "value", "stdout"
  std::string where;  // "[0][3][1]" or "byte 17"
  bool fixed = false;
  int64_t seed = 0;                    // of fixed mode
  std::vector<std::string> not_fixed;  // what may differ all the same: docs/determinism.md
};

// How the program of a runtime that compiles came about.
struct CompileReport {
  bool cached = false;
  int64_t wall_us = 0;  // of the build, whoever had it done
};

// The points of a checker or an interactor for a test, where scores are wanted.
struct JudgeScore {
  std::optional<double> score;       // feedback/score.txt, or testlib's points
  std::optional<double> multiplier;  // feedback/score_multiplier.txt
  bool operator==(const JudgeScore&) const = default;
};

// The files of the scratch that a job asked for.
struct OutputFiles {
  std::vector<InputFile> files;  // in the order of their paths
  struct Refused {
    std::string path, why;
    bool operator==(const Refused&) const = default;
  };
  std::vector<Refused> refused;
  int lack = 0;  // errno: descriptors or memory of ours ran out, so there may be more
};

struct TestResult {
  std::string name;
  bool skipped = false;  // an earlier one failed, and that was enough
  Verdict verdict;
  std::optional<ExitStatus> exit;
  Output out, err;  // cut short
  std::optional<Exception> exception;
  Usage usage;
  JudgeScore given;
  OutputFiles feedback;               // where the judge keeps it
  std::shared_ptr<HeldBytes> held{};  // as below
  std::shared_ptr<HeldBytes> feedback_held{};
};

// Counts of the tests of a job, and their score.
struct TestSummary {
  int64_t total = 0, passed = 0, failed = 0, skipped = 0;
  std::optional<double> score;  // the sum, where there are any; finite: an overflow is the largest
  bool operator==(const TestSummary&) const = default;
};
TestSummary summary_of(const std::vector<TestResult>& tests);

// Calls of one name that were treated alike, of a job that was observed.
struct ObservedCall {
  enum class Treatment : uint8_t { kAllowed, kQuietly, kRefused };  // kQuietly: `error`, no label
  std::string name;
  Treatment treatment = Treatment::kAllowed;
  int error = 0;
  std::string argument;  // of the first that was refused
  uint64_t count = 0;
  // The least profile that allows all of them; none if none does.
  std::optional<sandbox::Profile> needs;
};

// What a step left of its session.
struct StepReport {
  std::string node;    // to go on from: the new one, or the parent where nothing was kept
  std::string parent;  // that the step went on from; empty: none
  bool kept = false;
  std::string why_not;  // in words
  int64_t bytes = 0;    // of the new node
  bool operator==(const StepReport&) const = default;
};

struct JobResult {
  std::string id;
  std::string tag = "null";
  Verdict verdict;
  std::optional<ExitStatus> exit;  // none when the program never ran
  sys::Nanoseconds ended_at{};     // its first process, by the monotonic clock; not in JSON
  Output out, err;
  std::string value;   // value format; empty: null
  bool array = false;  // arrays in the value become plain lists
  std::optional<Exception> exception;
  std::optional<StepReport> step;  // of a step of a session
  std::string display;  // value format: a dict of what shows its value, by MIME type; or empty
  Usage usage;
  Timing timing;
  std::optional<DeterminismReport> determinism;
  std::optional<CompileReport> compile;
  std::vector<TestResult> tests;       // of a job that has some, in their order
  OutputFiles files;                   // that the job asked for
  std::vector<ObservedCall> observed;  // of a job that was to be observed
  sandbox::Layers enforced;
  std::optional<sandbox::Level> level;  // none when the job never reached a cell
  std::string template_id;              // "python-numpy@sha256:..."
  std::optional<JobRecord> record;      // of a job that asked for it
  std::shared_ptr<HeldBytes> held{};    // what all this counts, where its job is counted
};

// The number of bytes that a program made, as they are held: outputs, value, files, calls; and
// those of its record. It says how long the result takes to be compared or written down, to a small
// factor.
size_t bytes_made(const JobResult& result);

}  // namespace runtime
