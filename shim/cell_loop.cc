#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "sandbox/sys/socket.h"
#include "sandbox/sys/units.h"
#include "shim/cell.h"
#include "shim/wipe.h"

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif

namespace shim {

namespace {

int64_t now_ns() { return sys::monotonic_now().count(); }

int64_t cpu_ns(const rusage& usage) {
  auto ns = [](const timeval& t) {
    return int64_t{t.tv_sec} * 1'000'000'000 + int64_t{t.tv_usec} * 1000;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

struct Order {
  JobOrder job;
  int stdin_fd = -1;
};

// Waits for the next message; the daemon hanging up ends the cell.
Order receive_order(int flags = 0) {
  Order order;
  iovec part{&order.job, sizeof order.job};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t n;
  do {
    n = ::recvmsg(kFdSocket, &message, MSG_CMSG_CLOEXEC | flags);
  } while (n < 0 && errno == EINTR);
  if (n != static_cast<ssize_t>(sizeof order.job)) ::_exit(0);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header && header->cmsg_type == SCM_RIGHTS)
    std::memcpy(&order.stdin_fd, CMSG_DATA(header), sizeof(int));
  return order;
}

// The job, not pid 1, is to be the victim of an out-of-memory kill: children inherit the score, and
// lowering one's own back to 0 needs no capability (proc(5), oom_score_adj).
void set_oom_score(const char* score) { (void)!::write(kFdOomScore, score, std::strlen(score)); }

// A raw clone: the C library's fork would run its handlers and take its locks. The thread id that
// the library keeps is corrected by the kernel.
pid_t fork_job(const Cell& cell, int& pidfd) {
  // Every job gets pid 2, so that pids do not differ between runs. At offset 0: a sysctl ignores
  // the rest.
  (void)!::pwrite(kFdLastPid, "1", 1, 0);
  set_oom_score("1000");
  unsigned long flags =
      SIGCHLD | CLONE_PIDFD | (cell.tid_address ? CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID : 0);
  long pid = ::syscall(SYS_clone, flags, nullptr, &pidfd, cell.tid_address, nullptr);
  if (pid != 0) set_oom_score("0");
  return static_cast<pid_t>(pid);
}

// Until the job ends: listens for kKill. Everything else that the daemon sends now is a bug of its.
void await_end(pid_t pid, int pidfd) {
  pollfd events[2] = {{pidfd, POLLIN, 0}, {kFdSocket, POLLIN, 0}};
  while (::poll(events, 2, -1) < 0 || !(events[0].revents & POLLIN)) {
    if (!(events[1].revents & (POLLIN | POLLHUP))) continue;
    Order order = receive_order();
    if (order.job.kind == OrderKind::kKill) {
      ::kill(-1, SIGKILL);
      ::kill(pid, SIGKILL);
    }
  }
}

// Reaps the job and whatever it left behind. ECHILD proves the namespace empty, because orphans are
// given to pid 1; only otherwise is everything killed, which costs a walk over all processes.
void reap(pid_t pid, JobDone& done) {
  int status = 0;
  rusage usage{};
  while (::wait4(pid, &status, __WALL, &usage) < 0 && errno == EINTR) {
  }
  done.ended_at_ns = now_ns();
  done.signalled = WIFSIGNALED(status);
  done.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  done.cpu_ns = cpu_ns(usage);
  done.max_rss_kb = usage.ru_maxrss;
  for (;;) {
    pid_t other = ::wait4(-1, &status, done.swept ? __WALL : __WALL | WNOHANG, &usage);
    if (other > 0) {
      done.cpu_ns += cpu_ns(usage);
    } else if (other == 0) {
      done.swept = 1;
      ::kill(-1, SIGKILL);
    } else if (errno != EINTR) {
      return;  // ECHILD
    }
  }
}

void read_report(JobDone& done) {
  SetupReport report;
  while (::read(kFdReportRead, &report, sizeof report) == static_cast<ssize_t>(sizeof report)) {
    if (report.failure.step == Step::kRunning) {
      done.confined_at_ns = report.at_ns;
    } else {
      done.failure = report.failure;
    }
  }
}

// Brings the cell back to what it was before the job: scratch wiped, shared pipe flags reset.
void restore(const Cell& cell, JobDone& done) {
  ::fcntl(1, F_SETFL, O_WRONLY);
  ::fcntl(2, F_SETFL, O_WRONLY);
  struct statfs info {};
  ::fstatfs(kFdScratch, &info);
  done.blocks_full = info.f_bfree == 0;
  done.inodes_full = info.f_ffree == 0;
  done.clean = 1;
  if (info.f_bfree == cell.scratch_blocks && info.f_ffree == cell.scratch_inodes) return;
  wipe_directory(kFdScratch);
  ::fstatfs(kFdScratch, &info);
  done.clean = info.f_bfree == cell.scratch_blocks && info.f_ffree == cell.scratch_inodes;
}

void serve_one(Cell& cell, const Order& order) {
  JobDone done;
  done.nonce = order.job.nonce;
  cell.answer->note = {};
  cell.answer->note.line = -1;
  cell.answer->header = {};
  int pidfd = -1;
  pid_t pid = fork_job(cell, pidfd);
  if (pid == 0) run_job(cell, order.job, order.stdin_fd);
  done.forked_at_ns = now_ns();
  if (order.stdin_fd >= 0) ::close(order.stdin_fd);
  if (pid < 0) {
    done.failure = {Step::kFork, errno};
    done.clean = 1;
  } else {
    await_end(pid, pidfd);
    ::close(pidfd);
    reap(pid, done);
    read_report(done);
    restore(cell, done);
  }
  auto sent = sys::send_message(kFdSocket, sys::bytes_of(done));
  if (!sent.ok()) ::_exit(0);
}

}  // namespace

void serve_jobs(Cell& cell) {
  for (;;) {
    Order order = receive_order();
    // A kill that crossed the job's end finds nothing to do.
    if (order.job.kind == OrderKind::kRun) serve_one(cell, order);
  }
}

}  // namespace shim
