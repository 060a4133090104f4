#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

#include "sandbox/mounts/wipe.h"
#include "sandbox/sys/socket.h"
#include "sandbox/sys/units.h"
#include "shim/borrow/holder.h"
#include "shim/cell/cell.h"
#include "shim/cell/resident.h"
#include "shim/cell/sweeper.h"
#include "shim/program.h"

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
  JobFds fds;
  bool hung_up = false;  // by the daemon: the cell is to end
};

// Waits for the next message.
Order receive_order() {
  Order order;
  iovec part{&order.job, sizeof order.job};
  constexpr int kMost = 5 + state::kMostFiles;
  alignas(cmsghdr) char control[CMSG_SPACE(kMost * sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t n;
  do {
    n = ::recvmsg(kFdSocket, &message, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  order.hung_up = n != static_cast<ssize_t>(sizeof order.job);
  int received[kMost];
  std::fill(received, received + kMost, -1);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header && header->cmsg_type == SCM_RIGHTS)
    std::memcpy(received, CMSG_DATA(header), header->cmsg_len - CMSG_LEN(0));
  const int* next = received;
  if (order.job.has_stdin) order.fds.input = *next++;
  if (order.job.has_stdout) order.fds.output = *next++;
  if (order.job.has_stderr) order.fds.errors = *next++;
  if (order.job.has_program) order.fds.program = *next++;
  if (order.job.has_request) order.fds.request = *next++;
  const unsigned files = std::min<unsigned>(order.job.node_files, state::kMostFiles);
  for (unsigned i = 0; i < files; ++i) order.fds.node[i] = *next++;
  return order;
}

// The job, not pid 1, is to be the victim of an out-of-memory kill: children inherit the score, and
// lowering one's own back to 0 needs no capability (proc(5), oom_score_adj).
void set_oom_score(const char* score) { (void)!::write(kFdOomScore, score, std::strlen(score)); }

// A raw clone: the C library's fork would run its handlers and take its locks. The thread id that
// the library keeps is corrected by the kernel.
pid_t fork_job(const Cell& cell) {
  // Every job gets pid 2, so that pids do not differ between runs. At offset 0: a sysctl ignores
  // the rest.
  if (cell.reach == Reach::kNamespace) (void)!::pwrite(kFdLastPid, "1", 1, 0);
  set_oom_score("1000");
  unsigned long flags =
      SIGCHLD | (cell.tid_address ? CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID : 0);
  long pid = ::syscall(SYS_clone, flags, nullptr, nullptr, cell.tid_address, nullptr);
  if (pid != 0) set_oom_score("0");
  // The sweeper's handle on all that the job starts; the job's process makes the group itself.
  if (pid > 0 && cell.reach == Reach::kGroup) arm_sweeper(kFdSweeper, static_cast<pid_t>(pid));
  return static_cast<pid_t>(pid);
}

void kill_descendants(const Cell& cell) {
  if (cell.holder) return;  // its job starts no process
  if (cell.reach == Reach::kNamespace) {
    ::kill(-1, SIGKILL);
  } else {
    sweep(kFdSweeper);
  }
}

// The status and the usage that wait4 reports of the job's first process.
struct Ending {
  int status = 0;
  rusage usage{};
  bool refused = false;  // the kernel lets the holder start no process
  bool holder_is_gone = false;
  bool never_began = false;   // the holder ended first
  int64_t rested_at_ns = 0;   // a step: it was over then; 0: it has not come so far
  bool released = false;      // ... and was looked at
  bool unasked = true;        // ... and nobody wanted that
  bool stays = false;         // ... and stays stopped, to go on as the next step
  int64_t cpu_before_ns = 0;  // of the process before its last step
};

bool signal_job(const Cell& cell, pid_t forked, int number) {
  const pid_t pid = cell.holder ? cell.holder->job() : forked;
  return pid > 0 && ::kill(pid, number) == 0;
}

// The kernel ends the holder with its job when the memory of both is full: it is one. Who has a
// holder has no other children than these two.
bool has_one_ended(const Cell& cell, Ending& ending) {
  Ending first;
  const pid_t ended = ::wait4(-1, &first.status, __WALL | WNOHANG, &first.usage);
  if (ended <= 0) return false;
  if (ended != cell.holder->pid()) {
    ending.status = first.status;
    ending.usage = first.usage;
    return true;
  }
  ending.holder_is_gone = true;
  (void)signal_job(cell, 0, SIGKILL);
  ending.never_began = ::wait4(-1, &ending.status, __WALL, &ending.usage) < 0;
  return true;
}

// Another child may have ended instead, or none: a job can send signals that say so.
bool has_ended(const Cell& cell, pid_t forked, Ending& ending) {
  signalfd_siginfo words;
  while (::read(kFdChildren, &words, sizeof words) > 0) {
  }
  if (cell.holder) return has_one_ended(cell, ending);
  return ::wait4(forked, &ending.status, __WALL | WNOHANG, &ending.usage) == forked;
}

// A step that is over has answered and stopped, and its program does nothing more. One that stops
// itself before that goes on to its deadline. True: the daemon was told.
bool tell_of_rest(const Cell& cell, const JobOrder& job, pid_t forked, Ending& ending) {
  siginfo_t stopped{};
  const bool rests =
      job.rests && ending.rested_at_ns == 0 &&
      ::waitid(P_PID, static_cast<id_t>(forked), &stopped, WSTOPPED | WNOHANG) == 0 &&
      stopped.si_pid == forked && cell.answer->header.nonce == job.nonce;
  if (!rests) return false;
  ending.rested_at_ns = now_ns();
  JobRests words;
  words.nonce = job.nonce;
  words.has_timer = cell.answer->header.has_timer != 0;
  words.end_of_heap = cell.answer->header.end_of_heap;
  return sys::send_message(kFdSocket, sys::bytes_of(words)).ok();
}

void kill_job(const Cell& cell, pid_t forked, Ending& ending) {
  if (signal_job(cell, forked, SIGKILL) || !cell.holder) return;
  // A holder that has not come to start its job yet never will.
  ending.unasked = false;
  ::kill(cell.holder->pid(), SIGKILL);
}

// Until the job ends, or is to stay: listens for kKill and kSignal. Everything else that the daemon
// sends now is a bug of its. A daemon that hangs up ends the job, and with it the cell. False then.
bool await_end(const Cell& cell, const JobOrder& job, pid_t forked, Ending& ending) {
  pollfd events[3] = {{kFdChildren, POLLIN, 0}, {kFdSocket, POLLIN, 0}, {kFdParked, POLLIN, 0}};
  bool connected = true;
  for (;;) {
    if (::poll(events, cell.holder ? 3 : 2, -1) < 0) continue;
    if (events[0].revents & POLLIN) {
      if (has_ended(cell, forked, ending)) return connected;
      (void)tell_of_rest(cell, job, forked, ending);
    }
    if (cell.holder && (events[2].revents & POLLIN)) {
      ending.refused = cell.holder->await_parked();
      return connected;
    }
    if (!connected || !(events[1].revents & (POLLIN | POLLHUP))) continue;
    Order order = receive_order();
    if (order.hung_up) {
      connected = false;
      events[1].fd = -1;
    }
    ending.stays = order.job.kind == OrderKind::kStay && ending.rested_at_ns != 0;
    if (!order.hung_up && ending.stays) return connected;
    const bool released = order.job.kind == OrderKind::kRelease && ending.rested_at_ns != 0;
    if (!order.hung_up && released) ending.released = true;
    if (order.hung_up || released || order.job.kind == OrderKind::kKill) {
      kill_descendants(cell);
      kill_job(cell, forked, ending);
    } else if (order.job.kind == OrderKind::kSignal) {
      (void)signal_job(cell, forked, static_cast<int>(order.job.signal));
    }
  }
}

// Notes how the job ended, and reaps whatever it left behind. ECHILD proves the namespace empty,
// because orphans are given to pid 1; only otherwise is everything killed, which costs a walk over
// all processes.
void reap(const Cell& cell, Ending& ending, JobDone& done) {
  done.ended_at_ns = ending.released ? ending.rested_at_ns : now_ns();
  done.signalled = !ending.released && WIFSIGNALED(ending.status);
  done.code = WIFSIGNALED(ending.status) ? WTERMSIG(ending.status) : WEXITSTATUS(ending.status);
  if (ending.released) done.code = cell.answer->header.code & 0xFF;
  // The kernel rounds what it says of one that has ended.
  done.cpu_ns = std::max<int64_t>(0, cpu_ns(ending.usage) - ending.cpu_before_ns);
  done.max_rss_kb = ending.usage.ru_maxrss;
  done.switches_voluntary = ending.usage.ru_nvcsw;
  done.switches_forced = ending.usage.ru_nivcsw;
  int status = 0;
  rusage usage{};
  for (;;) {
    pid_t other = ::wait4(-1, &status, done.swept ? __WALL : __WALL | WNOHANG, &usage);
    if (cell.holder && other == cell.holder->pid()) {
      ending.holder_is_gone = true;
    } else if (other > 0) {
      done.cpu_ns += cpu_ns(usage);
    } else if (other == 0 && cell.holder) {
      return;  // the filter lets no job start a process
    } else if (other == 0) {
      done.swept = 1;
      kill_descendants(cell);
    } else if (errno != EINTR) {
      return;  // ECHILD
    }
  }
}

void read_report(JobDone& done) {
  // There are never more: one that it runs, or one that it failed, or both.
  SetupReport reports[2];
  const ssize_t size = ::read(kFdReportRead, reports, sizeof reports);
  for (ssize_t i = 0; i < size / static_cast<ssize_t>(sizeof reports[0]); ++i) {
    const SetupReport& report = reports[i];
    if (report.failure.step == Step::kRunning) {
      done.confined_at_ns = report.at_ns;
      // The child may have come so far before the fork returned here.
      done.forked_at_ns = std::min(done.forked_at_ns, report.at_ns);
    } else {
      done.failure = report.failure;
    }
  }
}

// The kernel numbers threads and processes of the namespace alike, and the job was the second.
bool had_company() {
  char text[16];
  const ssize_t size = ::pread(kFdLastPid, text, sizeof text, 0);
  int last = 0;
  if (size > 0) std::from_chars(text, text + size, last);
  return last > 2;
}

// Until the daemon has read what the job left. False: it hung up.
bool hold(const JobOrder& job) {
  JobHeld held;
  held.nonce = job.nonce;
  if (!sys::send_message(kFdSocket, sys::bytes_of(held)).ok()) return false;
  for (;;) {
    const Order order = receive_order();
    if (order.hung_up) return false;
    if (order.job.kind == OrderKind::kRelease) return true;
  }
}

void close_all(const JobFds& fds) {
  for (int fd : {fds.input, fds.output, fds.errors, fds.program, fds.request}) {
    if (fd >= 0) ::close(fd);
  }
  for (int fd : fds.node) {
    if (fd >= 0) ::close(fd);
  }
}

// Brings the holder's memory back. False: the cell must end.
bool restore_memory(const Cell& cell, const Ending& ending, JobDone& done) {
  if (!cell.holder) return true;
  const int64_t began = now_ns();
  if (ending.never_began) done.failure = {Step::kRollback, ESRCH};
  if (ending.refused) done.failure = {Step::kFork, EAGAIN};
  bool restored = !ending.holder_is_gone &&
                  cell.holder->roll_back(ending.usage.ru_minflt + ending.usage.ru_majflt);
  done.unused_warm_pages = static_cast<uint32_t>(cell.holder->unused_warm_pages());
  done.warm_pages = static_cast<uint32_t>(cell.holder->warm_pages());
  if (restored && cell.verifies_rollback) {
    const int difference = cell.holder->verify();
    if (difference != 0) done.failure = {Step::kRollback, difference};
    restored = difference == 0;
  }
  if (restored) done.rollback = Rollback::kDone;
  if (!restored && ending.unasked)
    done.rollback = ending.holder_is_gone ? Rollback::kLost : Rollback::kFailed;
  done.rollback_ns = now_ns() - began;
  return restored;
}

// A kill that crossed the end of the step finds nothing to do.
Order receive_after_stay() {
  for (;;) {
    Order order = receive_order();
    const bool goes_on = order.job.kind == OrderKind::kRun && order.job.goes_on;
    if (order.hung_up || goes_on || order.job.kind == OrderKind::kRelease) return order;
  }
}

// A step stays, and others go on in its process one after another. At the end `ending` is that of
// the process, and `job` and `done` are of the last step; false: the daemon hung up.
bool serve_resident(const Cell& cell, pid_t process, JobOrder& job, Ending& ending, JobDone& done) {
  Resident resident{process};
  read_report(done);
  while (ending.stays) {
    note_stay(cell, resident, ending.rested_at_ns, done);
    if (!sys::send_message(kFdSocket, sys::bytes_of(done)).ok()) return false;
    const Order order = receive_after_stay();
    if (order.hung_up) return false;
    const bool goes_on = order.job.kind == OrderKind::kRun;
    ending = {};
    if (goes_on) {
      job = order.job;
      go_on(cell, job, resident, done);
    } else {
      ending.rested_at_ns = now_ns();
      ending.released = true;
      kill_descendants(cell);
      ::kill(process, SIGKILL);
    }
    if (!await_end(cell, job, process, ending)) return false;
  }
  ending.cpu_before_ns = resident.cpu_before_ns + resident.cpu_of_children_ns;
  done.stays = 0;
  return true;
}

// A function of its own, so that all it has learned of a job lies on the stack below its caller.
[[gnu::noinline]] void serve_one(Cell& cell, const Order& order) {
  JobOrder job = order.job;
  JobDone done;
  done.nonce = job.nonce;
  begin_answer(cell);
  pid_t forked = -1;  // or a holder's
  if (cell.holder) {
    cell.holder->start(job, order.fds);
  } else {
    forked = fork_job(cell);
  }
  if (forked == 0) run_job(cell, job, order.fds);
  done.forked_at_ns = now_ns();
  if (!cell.holder) close_all(order.fds);  // a holder shares our descriptors until it has cloned
  bool usable = true;
  if (forked < 0 && !cell.holder) {
    done.failure = {Step::kFork, errno};
    done.clean = 1;
  } else {
    Ending ending;
    bool connected = await_end(cell, job, forked, ending);
    if (ending.stays) connected = serve_resident(cell, forked, job, ending, done);
    if (cell.holder) close_all(order.fds);
    if (!ending.refused) reap(cell, ending, done);
    if (job.tells_company) done.had_company = had_company();
    usable = restore_memory(cell, ending, done) && !ending.refused;
    if (!connected || (job.hold && !hold(job))) ::_exit(0);
    read_report(done);
    restore(cell, done);
    if (!usable) done.clean = 0;
  }
  auto sent = sys::send_message(kFdSocket, sys::bytes_of(done));
  if (!sent.ok() || !usable) ::_exit(0);
  if (!cell.holder) reseed_in_memory();  // for the next; a borrower does it itself
}

// The next job is a copy of this process: how the last one ended is none of its business. What is
// deeper on the stack is wiped by who puts it there (sandbox/mounts/wipe.cc).
[[gnu::noinline]] void forget_the_last() {
  char below[2048];
  std::memset(below, 0, sizeof below);
  __asm__ volatile("" : : "r"(below) : "memory");
}

}  // namespace

void serve_jobs(Cell& cell) {
  reseed_in_memory();
  for (;;) {
    Order order = receive_order();
    if (order.hung_up) ::_exit(0);
    // A kill that crossed the job's end finds nothing to do.
    if (order.job.kind != OrderKind::kRun) continue;
    serve_one(cell, order);
    forget_the_last();
  }
}

}  // namespace shim
