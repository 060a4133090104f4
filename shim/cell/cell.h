#pragma once
// A cell: pid 1 of its own namespaces, a fork of the template zygote. setup.cc puts the layers
// in force, loop.cc serves jobs, run_job.cc is the child's path of one job. Runs
// single-threaded inside the template's process; no Python runs here, and nothing is allocated per
// job.

#include "sandbox/policy.h"
#include "shim/protocol.h"
#include "shim/state/format.h"
#include "shim/value_format.h"

namespace shim {

namespace borrow {
class Holder;
}

// Descriptors of a cell; fixed, so that both sides of the fork know them. Everything above is
// closed.
enum CellFd : int {
  kFdSocket = kCellSocketFd,
  kFdRequest,      // memfd for short requests, read-only
  kFdReportRead,   // the child's set-up report: non-blocking reader ...
  kFdReportWrite,  // ... and the writer, which the child closes before user code
  kFdScratch,      // the scratch directory
  kFdRuleset,      // Landlock, ready to be entered
  kFdOomScore,     // /proc/self/oom_score_adj of pid 1
  kFdLastPid,      // /proc/sys/kernel/ns_last_pid, with a pid namespace
  kFdSweeper,      // the line to the sweeper, without one
  kFdNull,         // /dev/null for reading: an empty stdin
  kFdChildren,     // readable when a child has ended
  kFdOffspring,    // the pids of pid 1's children, without a pid namespace
  kFdSockets,  // counts of sockets, where jobs may make some in a network namespace of their own
  // Where jobs borrow their memory (shim/borrow/holder.h): the holder's own /proc files and
  // tracking, what wakes it and what it says, and the listener of its filter.
  kFdHolderPagemap,
  kFdHolderMaps,
  kFdHolderAreas,
  kFdHolderMemory,
  kFdHolderPeak,
  kFdTracking,
  kFdWake,
  kFdWakeWriter,
  kFdParked,
  kFdParkedWriter,
  kFdListener,
  kFdCount,
};

// How everything that a job has started is reached: by the pid namespace, or by a sweeper.
enum class Reach : uint8_t { kNamespace, kUser, kGroup };

// "pid 1" is the cell's first process also where it has no pid namespace of its own.
struct Cell {
  sandbox::Layers layers;
  Reach reach = Reach::kNamespace;
  bool two_ids = false;  // pid 1 and the job have different uids
  uint32_t job_uid = 0;  // of jobs, as this process numbers them
  uint32_t job_gid = 0;
  bool readable_job = false;  // see CellOrder
  int64_t sockets = -1;       // in the cell's network namespace before a job; -1: not counted
  bool trap_reports = false;
  bool makes_sockets = false;
  const char* home = nullptr;  // path of a scratch that is not /tmp
  AnswerRegion* answer = nullptr;
  uint64_t answer_bytes = 0;
  uint64_t scratch_blocks = 0;  // free blocks and inodes of the empty scratch
  uint64_t scratch_inodes = 0;
  uint64_t scratch_bytes_limit = 0;  // of a scratch that has no limits of its own
  uint64_t scratch_inodes_limit = 0;
  borrow::Holder* holder = nullptr;  // of the memory that jobs borrow; null: they are forked
  bool verifies_rollback = false;
  bool borrowed = false;       // in a job: this memory is a holder's
  int* tid_address = nullptr;  // where the C library keeps this thread's id; null: unknown
};

// The child of the template: descriptors in CellDescriptor order, `mapped` readable once the id
// maps are written. Sets the cell up, reports, serves until the daemon hangs up. Never returns.
[[noreturn]] void run_cell(const CellOrder& order, int* descriptors, unsigned count, int mapped,
                           int* tid_address);

// The sockets of this network namespace, by kFdSockets; -1: that cannot be told.
int64_t count_sockets();

// Brings back what outlives a job: flags and locks of the streams that it was given ...
void restore_streams(const Cell& cell);
// ... and with them the scratch. `done` says whether all of it is as it was.
void restore(const Cell& cell, JobDone& done);

// Serves job orders until the socket closes.
[[noreturn]] void serve_jobs(Cell& cell);

// The descriptors of a JobOrder; -1 where the order has none.
struct JobFds {
  int input = -1, output = -1, errors = -1, program = -1, request = -1;
  int node[state::kMostFiles] = {-1, -1, -1, -1, -1, -1, -1, -1};
  static_assert(state::kMostFiles == 8);
};

// The child's path of one job, after the fork. Never returns.
[[noreturn]] void run_job(const Cell& cell, const JobOrder& order, const JobFds& fds);

// The message of a child in the report pipe: a failure, or kRunning when the program is about to
// run.
struct SetupReport {
  SetupFailure failure;
  int64_t at_ns = 0;
};

}  // namespace shim
