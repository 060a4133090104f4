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
#include <span>
#include <string_view>

#include "sandbox/caps.h"
#include "sandbox/landlock.h"
#include "sandbox/namespaces.h"
#include "sandbox/rlimits.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/socket.h"
#include "sandbox/sys/units.h"
#include "sandbox/sys/userfault.h"
#include "shim/cell/cell.h"
#include "shim/cell/sweeper.h"
#include "shim/heap/hot_pages.h"
#include "shim/next_step.h"
#include "shim/program.h"
#include "shim/rseq.h"
#include "shim/sigsys_reporter.h"
#include "shim/state/format.h"
#include "shim/state/restore.h"

namespace shim {

using sandbox::Layer;

namespace {

constexpr int kSetupFailed = 125;

// The child reports failure as data, pid 1 reads it after the end. The writer is closed before user
// code, which so cannot forge a report.
class Report {
 public:
  void require(Step step, int error) const {
    if (error == 0) return;
    send({{step, error}, 0});
    ::_exit(kSetupFailed);
  }
  void require_call(Step step, long result) const { require(step, result < 0 ? errno : 0); }
  void running() const { send({{Step::kRunning, 0}, sys::monotonic_now().count()}); }
  // By another descriptor from here on, or by none.
  bool move_to(int fd) {
    const bool moved = ::dup2(fd_, fd) == fd;
    if (moved) fd_ = fd;
    return moved;
  }
  int fd() const { return fd_; }

 private:
  void send(const SetupReport& report) const { (void)!::write(fd_, &report, sizeof report); }
  int fd_ = kFdReportWrite;
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

// What a step is told must not lie where the state of a node will.
void* place_of_request(const Report& report, size_t size, bool is_step) {
  if (!is_step && size < kShortRequest) return short_request;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
  void* const where = is_step ? reinterpret_cast<void*>(state::kRequestAddress) : nullptr;
  void* at = ::mmap(where, size + 1, PROT_READ | PROT_WRITE,
                    is_step ? kFlags | MAP_FIXED_NOREPLACE : kFlags, -1, 0);
  report.require(Step::kRequest, at == MAP_FAILED ? errno : 0);
  return at;
}

RequestBytes read_request(const Report& report, size_t size, int own_file, bool is_step) {
  const bool is_short = size < kShortRequest;
  const int fd = is_short ? int{kFdRequest} : own_file;
  if (!is_short && executes_programs()) return map_request(report, fd, size);
  char* into = static_cast<char*>(place_of_request(report, size, is_step));
  for (size_t got = 0; got < size;) {
    ssize_t n = ::pread(fd, into + got, size - got, static_cast<off_t>(got));
    if (n < 0 && errno == EINTR) continue;
    report.require(Step::kRequest, n > 0 ? 0 : (n < 0 ? errno : EIO));
    got += static_cast<size_t>(n);
  }
  return {{into, size}};
}

// The kernel reads its words for a thread that it has interrupted where the C library keeps them: a
// node's memory, which would steer who restores it.
void leave_rseq_of_step(const Report& report) {
  report.require(Step::kRestore, leave_rseq() ? 0 : ENOTRECOVERABLE);
}

// The node's descriptors take the place of ours, but for the one that reports. Where something
// cannot be put back, that is no shortage of the machine's, whatever the kernel says: what a node
// takes is of its program's making, and another try would not help.
void restore_node(Report& report, const Cell& cell, const JobOrder& order, const int* files) {
  const auto require = [&report](bool done) {
    report.require(Step::kRestore, done ? 0 : ENOTRECOVERABLE);
  };
  ::signal(SIGXFSZ, SIG_IGN);  // it is a restoration that fails then, and no program
  sigset_t all;                // a handler would call by the node's tables
  ::sigfillset(&all);
  require(::sigprocmask(SIG_SETMASK, &all, nullptr) == 0);
  require(state::map_node(files, order.node_files) == 0);
  require(report.move_to(state::free_descriptor()));
  const unsigned kept = static_cast<unsigned>(report.fd());
  require(kept == 3 || ::close_range(3, kept - 1, 0) == 0);
  require(::close_range(kept + 1, ~0u, 0) == 0);
  require(state::restore_files() == 0);  // not before: each has a descriptor for a while
  require(state::restore_descriptors() == 0);
  const SetupReport failure{{Step::kRestore, ENOTRECOVERABLE}, 0};
  SetupReport done{{Step::kRunning, 0}, 0};
  state::restore_memory(cell.tid_address,
                        {report.fd(), &failure, &done, kSetupFailed, order.asks_again != 0,
                         order.stands_by ? &cell.answer->header.nonce : nullptr, order.nonce});
}

// Without a descriptor where the kernel cannot. Our filter lets nobody have more of it than this
// call.
void hand_over_tracking(const Report& report, uint64_t nonce) {
  const sys::OwnedFd tracking(sys::open_userfault());
  JobTracked words;
  words.nonce = nonce;
  const int fd = tracking.get();
  const auto sent =
      sys::send_message(kFdSocket, sys::bytes_of(words), std::span(&fd, tracking ? size_t{1} : 0));
  report.require(Step::kRestore, sent.ok() ? 0 : sent.error().code());
}

// Nothing but the job's own is open for the program; a program to be executed needs some until
// then.
void close_descriptors(const Report& report, const Cell& cell) {
  report.running();
  if (!cell.layers.has(Layer::kDescriptors)) return;
  const unsigned how = executes_programs() ? CLOSE_RANGE_CLOEXEC : 0;
  if (::syscall(SYS_close_range, 3u, ~0u, how) < 0) report.require(Step::kDescriptors, errno);
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
  if (!cell.borrowed && order.node_files == 0) copy_hot_pages(order.habit);
  if (order.tracks) hand_over_tracking(report, order.nonce);
  report.require_call(Step::kStdio, ::dup2(fds.input >= 0 ? fds.input : kFdNull, 0));
  if (fds.output >= 0) report.require_call(Step::kStdio, ::dup2(fds.output, 1));
  report.require(Step::kStdio, place_errors(order.errors, fds.errors));
  const RequestBytes request =
      read_request(report, order.request_bytes, fds.request, order.rests != 0);
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
  if (order.rests) leave_rseq_of_step(report);
  if (order.node_files > 0) {
    restore_node(report, cell, order, fds.node);
  } else {
    close_descriptors(report, cell);
  }
  AnswerSpace answer;
  answer.region = cell.answer;
  answer.capacity = std::min<uint64_t>(order.value_bytes, most_answer_bytes(cell.answer_bytes));
  answer.nonce = order.nonce;
  answer.home = cell.home;
  answer.program_fd = fds.program;
  answer.limits = &order.program;
  answer.cannot_execute = cannot_execute;
  answer.region_bytes = cell.answer_bytes;
  answer.request_is_mapped = request.mapped;
  answer.goes_on = order.node_files > 0;
  answer.seed = order.seed;
  const std::string_view told = order.stands_by ? take_next_step(answer) : request.bytes;
  if (answer.nonce == 0) ::_exit(0);
  run_program(told, answer);
}

}  // namespace shim
