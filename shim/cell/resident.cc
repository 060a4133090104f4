#include "shim/cell/resident.h"

#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

#include "sandbox/sys/units.h"
#include "shim/next_step.h"

namespace shim {
namespace {

// CPU time of a process that lives.
int64_t cpu_of(pid_t process) {
  clockid_t clock;
  timespec used{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &used) < 0) return 0;
  return int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

// False: it cannot be told.
bool tell(const Cell& cell, const JobOrder& job) {
  if (job.request_bytes >= kShortRequest) return false;
  NextStep& next = *next_step_of(cell.answer, cell.answer_bytes);
  next.seed = job.seed;
  next.value_bytes = job.value_bytes;
  next.request_bytes = job.request_bytes;
  for (size_t got = 0; got < job.request_bytes;) {
    const ssize_t n =
        ::pread(kFdRequest, next.request + got, job.request_bytes - got, static_cast<off_t>(got));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    got += static_cast<size_t>(n);
  }
  next.nonce = job.nonce;
  return true;
}

bool has_died(pid_t process) {
  siginfo_t state{};
  return ::waitid(P_PID, static_cast<id_t>(process), &state, WEXITED | WNOHANG | WNOWAIT) < 0 ||
         state.si_pid == process;
}

}  // namespace

void begin_answer(const Cell& cell) {
  cell.answer->note = {};
  cell.answer->note.line = -1;
  cell.answer->header = {};
}

void note_stay(const Cell& cell, const Resident& resident, int64_t rested_at_ns, JobDone& done) {
  done.ended_at_ns = rested_at_ns;
  done.code = cell.answer->header.code & 0xFF;
  done.cpu_ns = cpu_of(resident.process) - resident.cpu_before_ns;
  struct statfs info {};
  ::fstatfs(kFdScratch, &info);
  done.blocks_full = info.f_bfree == 0;
  done.inodes_full = info.f_ffree == 0;
  done.clean = done.stays = 1;
}

void go_on(const Cell& cell, const JobOrder& job, Resident& resident, JobDone& done) {
  done = {};
  done.nonce = job.nonce;
  begin_answer(cell);
  restore_streams(cell);
  if (cell.reach == Reach::kNamespace) (void)!::pwrite(kFdLastPid, "2", 1, 0);
  resident.cpu_before_ns = cpu_of(resident.process);
  resident.cpu_of_children_ns = job.cpu_of_children_ns;
  if (has_died(resident.process) || !tell(cell, job)) {
    done.failure = {Step::kRestore, ESRCH};
    ::kill(resident.process, SIGKILL);
    return;
  }
  done.forked_at_ns = done.confined_at_ns = sys::monotonic_now().count();
  ::kill(resident.process, SIGCONT);
}

}  // namespace shim
