#pragma once
// The wire between the daemon and its processes: fixed-size structs on SEQPACKET sockets, with
// descriptors by position. Both ends are built from the same tree, so layout is not versioned; a
// message of another size is refused.
//
//   launcher  -> daemon    TemplateBorn   + pidfd of the template
//   template  -> daemon    TemplateReady
//   daemon    -> template  CellOrder      + CellDescriptors
//   template  -> daemon    CellBorn       + pidfd of the cell
//   cell      -> daemon    CellReady      + seccomp listener, O_PATH of the cell's root
//   daemon    -> cell      JobOrder       (+ stdin, ...: has_*) | kKill | kSignal
//   job       -> daemon    JobTracked  (+ what tells of its writes), if the order says so
//   cell      -> daemon    JobRests, if the order says so, and then
//   daemon    -> cell      kRelease, or kStay: JobDone comes, and the process stays stopped until
//                          kRun with goes_on, or kRelease, after which JobDone comes once more
//   cell      -> daemon    JobHeld, if the order says so
//   daemon    -> cell      kRelease, then
//   cell      -> daemon    JobDone

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "sandbox/policy.h"
#include "sandbox/rlimits.h"
#include "shim/step.h"
#include "shim/value_format.h"

namespace shim {

// The exit status of a launcher that fails: it says which shortage is the reason, if one is.
inline constexpr int kLaunchFailed = 125, kFirstShortage = 115;
inline constexpr int kShortages[] = {EAGAIN, ENOMEM, EMFILE, ENFILE};
constexpr int status_of_launch(int error) {
  for (int i = 0; i < 4; ++i) {
    if (kShortages[i] == error) return kFirstShortage + i;
  }
  return kLaunchFailed;
}
constexpr int error_of_launch(int status) {  // 0: none
  const int i = status - kFirstShortage;
  return i >= 0 && i < 4 ? kShortages[i] : 0;
}

// Descriptors of a template process; fixed, so that the interpreter's start cannot move them.
inline constexpr int kControlFd = 3;
inline constexpr int kCellSocketFd = 3;  // of a cell
inline constexpr int kProcFd = 4;  // a procfs of the template's pid namespace, mounted nowhere

// The uids of cells. In a user namespace of the template's, cell n has pid 1 as kFirstCellId + 2n
// and its job as the next one; inside the cell they are 0 and kJobId, or what the image says of its
// user. Without user namespaces they are ids of the host: pid 1, the job, and the sweeper
// (shim/cell/sweeper.h) of a cell.
inline constexpr uint32_t kFirstCellId = 1000;
inline constexpr uint32_t kJobId = 1000;
inline constexpr uint32_t kTemplateIdCount = 65536;

struct SetupFailure {
  Step step = Step::kNone;
  int32_t error = 0;
};

struct TemplateBorn {
  uint64_t tag = 1;
};

struct TemplateReady {
  uint64_t tag = 2;
  uint32_t threads = 0;
  uint32_t in_place = 0;  // jobs of mode kWarm run in its own interpreter, and execute nothing
};

struct CellOrder {
  uint64_t tag = 3;
  uint64_t cell = 0;    // the daemon's number; comes back in CellBorn
  uint32_t layers = 0;  // sandbox::Layers bits to put in force
  // Ids in the template's user namespace; all 0: the cell has the template's id, and no other.
  uint32_t init_id = 0;
  uint32_t job_id = 0;
  uint32_t sweeper_id = 0;  // only without a pid namespace
  // The job's ids inside the cell's user namespace; the uid is never 0, which is pid 1's there.
  uint32_t inside_uid = kJobId;
  uint32_t inside_gid = kJobId;
  uint32_t readable_job = 0;  // the daemon reads a job's memory only while it is dumpable
  uint32_t trap_reports = 0;  // the filter traps some calls: see sandbox/seccomp/report.h
  uint32_t scratch_exec = 0;
  uint32_t makes_code = 0;         // its programs may execute memory that they wrote
  uint32_t own_proc = 0;           // a /proc in which a process finds itself; with a pid namespace
  uint32_t verifies_rollback = 0;  // and after each all of it is compared with what it was
  uint32_t makes_sockets = 0;      // its jobs may
  uint64_t scratch_bytes = 0;
  uint64_t scratch_inodes = 0;
  uint64_t answer_bytes = 0;  // size of the answer region, header included
  // Two filters in one file. Jobs that are forked have the first. A holder has the second, and with
  // it the jobs that borrow its memory, where the kernel allows that; 0: none is to.
  uint32_t filter_bytes = 0;
  uint32_t borrower_filter_bytes = 0;
  uint32_t cgroup_count = 0;  // descriptors to write "0" into
  int32_t cpu = -1;           // that the cell moves to; -1: it stays on its template's
  // Where no tmpfs can be mounted, the daemon makes the scratch directory and the Landlock ruleset,
  // and sends both. Empty: the cell makes its own.
  char scratch_path[128] = {};
  bool has_scratch() const { return scratch_path[0] != 0; }
  // The gid of pid 1; a job may have gid 0, which means nothing where uid 0 alone has capabilities.
  uint32_t inside_init_gid() const { return inside_gid == 0 ? kJobId : 0; }
};
// Positions of the descriptors that travel with a CellOrder. The last two only with a scratch path;
// those of the cgroups follow.
enum CellDescriptor : unsigned {
  kCellSocket,
  kCellStdout,
  kCellStderr,
  kCellRequest,
  kCellAnswer,
  kCellFilter,
  kCellScratch,
  kCellRuleset
};
inline unsigned first_cgroup_of(const CellOrder& order) {
  return order.has_scratch() ? kCellRuleset + 1 : kCellFilter + 1;
}

struct CellBorn {
  uint64_t tag = 4;
  uint64_t cell = 0;
  SetupFailure failure;
};

// A holder keeps so many pages, at most, for the next job because job after job writes to them.
constexpr uint64_t kMostWarmPages = 224;

struct CellReady {
  uint64_t tag = 5;
  SetupFailure failure;
  uint64_t scratch_device = 0;
  uint32_t has_listener = 0;
  uint32_t has_holder = 0;   // its pidfd comes last
  uint64_t image_bytes = 0;  // areas of files in memory that the holder has
};

// kRelease: what the job left in its scratch has been read, or how its process is while it rests;
// the cell may wipe or end it. kSignal: for the job's first process, if it is there still.
// kStay: the step's process is to go on as the next step, if that comes before kRelease.
enum class OrderKind : uint32_t { kRun = 1, kKill = 2, kRelease = 3, kSignal = 4, kStay = 5 };

// The likely behaviour of a program, judged by its source: decides which pages are copied for it
// beforehand. It affects speed only.
enum class Habit : uint32_t { kScript, kCall, kNumpyScript, kNumpyCall };
constexpr size_t kHabits = 4;

// Where a job's standard error goes: a pipe of its own, its standard output, /dev/null.
enum class Errors : uint32_t { kApart, kWithOutput, kNowhere };

// Requests below this size lie in the cell's own file for them; a longer one comes with its order.
constexpr size_t kShortRequest = 8 << 10;

struct JobOrder {
  uint64_t tag = 6;
  OrderKind kind = OrderKind::kRun;
  uint32_t has_stdin = 0;      // descriptors, in the order of these fields: the job's stdin
  uint32_t has_stdout = 0;     // in place of the cell's
  uint32_t has_stderr = 0;     // likewise
  uint32_t has_program = 0;    // exec: an executable in memory
  uint32_t has_request = 0;    // the request in a file of its own
  uint32_t comes_first = 0;    // before jobs of which this is not said
  uint32_t tells_company = 0;  // say whether it was more than one thread
  uint32_t hold = 0;           // say JobHeld at the end, and wait for kRelease
  uint32_t rests = 0;          // a step: it stops at its end; say JobRests, and wait for kRelease
  uint32_t tracks = 0;         // a step: say JobTracked
  uint32_t asks_again = 0;     // ... and ask for the same once more, when its node is put back
  uint32_t goes_on = 0;        // a step, in the process that has stayed; only what is told matters
  uint32_t stands_by = 0;      // a process that is put to its node, and waits for a step there
  int64_t cpu_of_children_ns = 0;  // ... which has waited for children that took so long
  uint32_t node_files = 0;         // of the node (state/format.h) that it goes on from; 0: of none
  Habit habit = Habit::kScript;
  uint32_t signal = 0;  // of kSignal
  uint64_t seed = 0;    // of a step's chance; 0: to be drawn
  Errors errors = Errors::kApart;
  uint64_t nonce = 0;
  uint64_t request_bytes = 0;
  uint64_t value_bytes = 0;
  sandbox::Rlimits rlimits;
  sandbox::ProgramRlimits program;  // exec: under those
};

// The fate of memory that a job borrowed. kFailed, and kLost: its holder had ended before the job
// was reaped; the cell ends.
enum class Rollback : uint32_t { kNone, kDone, kFailed, kLost };

// Every process of the job has ended; its scratch is as it left it.
struct JobHeld {
  uint64_t tag = 8;
  uint64_t nonce = 0;
};

// The kernel tells which pages of the process are written to (userfaultfd(2)), or, without a
// descriptor, cannot. It says so itself, while nothing of its program has run
// (sandbox/sys/userfault.h).
struct JobTracked {
  uint64_t tag = 10;
  uint64_t nonce = 0;
};

// The step is over and its first process stopped, with all that it has.
struct JobRests {
  uint64_t tag = 9;
  uint64_t nonce = 0;
  // By the program's own word; AnswerHeader.
  uint64_t end_of_heap = 0;
  uint32_t has_timer = 0;
  uint32_t unused = 0;
};

struct JobDone {
  uint64_t tag = 7;
  uint64_t nonce = 0;
  SetupFailure failure;  // the job never reached its program
  uint32_t signalled = 0;
  int32_t code = 0;    // exit code or signal
  int64_t cpu_ns = 0;  // of the job and of everything that was reaped with it
  int64_t max_rss_kb = 0;
  int64_t switches_voluntary = 0;  // of context: it waited, or the kernel took the CPU from it
  int64_t switches_forced = 0;
  int64_t forked_at_ns = 0;    // CLOCK_MONOTONIC: the fork returned
  int64_t confined_at_ns = 0;  // the child was about to run the program; 0: it never was
  int64_t ended_at_ns = 0;     // the job's process was reaped
  uint32_t swept = 0;          // processes were left behind and killed
  uint32_t blocks_full = 0;  // scratch had no block, or no inode, left at the end; where it has no
  uint32_t inodes_full = 0;  // limits of its own: it held more than its limits
  uint32_t had_company = 0;  // as it was asked: there was a second thread or process
  uint32_t clean = 0;        // empty and wiped: the cell may serve again
  uint32_t stays = 0;        // its process does, as it was told
  Rollback rollback = Rollback::kNone;
  // Of pages that the holder keeps warm: those that were there when the job began and that it has
  // not changed, so that they are none of its memory; and those that the next job will find.
  uint32_t unused_warm_pages = 0;
  uint32_t warm_pages = 0;
  int64_t rollback_ns = 0;  // how long it took
};

}  // namespace shim
