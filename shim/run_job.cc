// The child's path of one job: from the fork in the cell to the program. Everything here runs once
// per job, so what could be inherited is done in the cell; nothing returns past this file.

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <string_view>

#include "sandbox/caps.h"
#include "sandbox/landlock.h"
#include "sandbox/namespaces.h"
#include "sandbox/rlimits.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/units.h"
#include "shim/cell.h"
#include "shim/heap/hot_pages.h"
#include "shim/program.h"
#include "shim/sigsys_reporter.h"
#include "shim/sweeper.h"

namespace shim {

using sandbox::Layer;

namespace {

// The child reports failure as data, pid 1 reads it after the end. The writer is closed before user
// code, which so cannot forge a report.
class Report {
 public:
  void require(Step step, int error) const {
    if (error == 0) return;
    send({{step, error}, 0});
    ::_exit(125);
  }
  void require_call(Step step, long result) const { require(step, result < 0 ? errno : 0); }
  void running() const { send({{Step::kRunning, 0}, sys::monotonic_now().count()}); }

 private:
  static void send(const SetupReport& report) {
    (void)!::write(kFdReportWrite, &report, sizeof report);
  }
};

// SCHED_IDLE: the supervisor and pid 1 always come first, so a deadline is late by 0.1 ms and not
// by a time slice (sched(7)). Within that class no task preempts another when it wakes, so
// each turn of a conversation would wait for the end of another job's slice: 3.7 s for 500 turns
// beside two busy jobs, and 0.06 s in the usual class, where `comes_first` gives the lowest weight.
int yield_to_supervisor(bool comes_first) {
  constexpr int kLowest = 19;
  if (comes_first) return ::setpriority(PRIO_PROCESS, 0, kLowest) < 0 ? errno : 0;
  sched_param none{};
  return ::sched_setscheduler(0, SCHED_IDLE, &none) < 0 ? errno : 0;
}

// Short requests are copied here: a mapping more costs more than a copy.
char short_request[kShortRequest];

// This can report until execve has closed the report's descriptor.
void cannot_execute(int error) { Report().require(Step::kExecute, error); }

int place_errors(Errors where, int apart) {
  if (where == Errors::kApart) return apart >= 0 && ::dup2(apart, 2) < 0 ? errno : 0;
  if (where == Errors::kWithOutput) return ::dup2(1, 2) < 0 ? errno : 0;
  sys::OwnedFd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  return !null || ::dup2(null.get(), 2) < 0 ? errno : 0;
}

struct RequestBytes {
  std::string_view bytes;
  bool mapped = false;
};

// A program that will take this process's place need not own the bytes, nor be charged for them.
RequestBytes map_request(const Report& report, int fd, size_t size) {
  void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  report.require(Step::kRequest, at == MAP_FAILED ? errno : 0);
  return {{static_cast<const char*>(at), size}, true};
}

RequestBytes read_request(const Report& report, size_t size, int own_file) {
  const bool is_short = size < kShortRequest;
  const int fd = is_short ? int{kFdRequest} : own_file;
  if (!is_short && executes_programs()) return map_request(report, fd, size);
  void* at = short_request;
  if (!is_short) {
    at = ::mmap(nullptr, size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    report.require(Step::kRequest, at == MAP_FAILED ? errno : 0);
  }
  char* into = static_cast<char*>(at);
  for (size_t got = 0; got < size;) {
    ssize_t n = ::pread(fd, into + got, size - got, static_cast<off_t>(got));
    if (n < 0 && errno == EINTR) continue;
    report.require(Step::kRequest, n > 0 ? 0 : (n < 0 ? errno : EIO));
    got += static_cast<size_t>(n);
  }
  return {{into, size}};
}

}  // namespace

void run_job(const Cell& cell, const JobOrder& order, const JobFds& fds) {
  Report report;
  sigset_t none;
  ::sigemptyset(&none);
  report.require_call(Step::kStdio, ::sigprocmask(SIG_SETMASK, &none, nullptr));
  // Before anything else: what the job will start is born into its group, within the sweeper's
  // reach.
  if (cell.reach == Reach::kGroup) {
    report.require_call(Step::kJobIdentity, ::setpgid(0, 0));
    if (cell.borrowed) arm_sweeper(kFdSweeper, ::getpid());  // pid 1 does not know it
  }
  if (!cell.borrowed) copy_hot_pages(order.habit);
  report.require_call(Step::kStdio, ::dup2(fds.input >= 0 ? fds.input : kFdNull, 0));
  if (fds.output >= 0) report.require_call(Step::kStdio, ::dup2(fds.output, 1));
  report.require(Step::kStdio, place_errors(order.errors, fds.errors));
  const RequestBytes request = read_request(report, order.request_bytes, fds.request);
  if (cell.layers.has(Layer::kUid) && cell.two_ids) {
    const bool can_set_groups = !cell.borrowed || cell.reach == Reach::kNamespace;  // else has none
    report.require(Step::kJobIdentity, sandbox::become(cell.job_uid, cell.job_gid, can_set_groups));
  }
  report.require_call(Step::kJobIdentity,
                      ::prctl(PR_SET_PDEATHSIG, SIGKILL));  // a change of uid clears it
  if (cell.layers.has(Layer::kRlimits))
    report.require(Step::kLimits, sandbox::apply_rlimits(order.rlimits));
  if (cell.layers.has(Layer::kCaps))
    report.require(Step::kJobCapabilities, sandbox::drop_all_caps());
  if (cell.layers.has(Layer::kLandlock))
    report.require(Step::kLandlock, sandbox::restrict_self(kFdRuleset));
  report.require(Step::kSchedule, yield_to_supervisor(order.comes_first != 0));
  if (cell.readable_job) report.require_call(Step::kJobIdentity, ::prctl(PR_SET_DUMPABLE, 1));
  if (cell.trap_reports) report.require(Step::kJobIdentity, report_trapped_calls());
  report.running();
  if (cell.layers.has(Layer::kDescriptors)) {
    const unsigned how = executes_programs() ? CLOSE_RANGE_CLOEXEC : 0;
    if (::syscall(SYS_close_range, 3u, ~0u, how) < 0) report.require(Step::kDescriptors, errno);
  }
  AnswerSpace answer;
  answer.region = cell.answer;
  answer.capacity = std::min<uint64_t>(order.value_bytes, cell.answer_bytes - sizeof(AnswerRegion));
  answer.nonce = order.nonce;
  answer.home = cell.home;
  answer.program_fd = fds.program;
  answer.limits = &order.program;
  answer.cannot_execute = cannot_execute;
  answer.region_bytes = cell.answer_bytes;
  answer.request_is_mapped = request.mapped;
  run_program(request.bytes, answer);
}

}  // namespace shim
