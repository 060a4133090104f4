#include "shim/cell/sweeper.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/caps.h"

namespace shim {

namespace {

constexpr pid_t kSweepNow = 0;

// All three ids, then no capability: with CAP_KILL, or with root's id left anywhere, kill(-1) would
// be the end of the host.
bool take_ids(const SweeperPlan& plan) {
  if (::syscall(SYS_setgroups, 0, nullptr) < 0) return false;
  if (::syscall(SYS_setresgid, plan.sweeper_id, plan.sweeper_id, plan.sweeper_id) < 0) return false;
  if (::syscall(SYS_setresuid, plan.sweeper_id, plan.job_id, plan.sweeper_id) < 0) return false;
  if (sandbox::drop_all_caps() != 0 || sandbox::has_any_cap()) return false;
  uint32_t real = 0, effective = 0, saved = 0;
  return ::syscall(SYS_getresuid, &real, &effective, &saved) == 0 && real == plan.sweeper_id &&
         effective == plan.job_id && saved == plan.sweeper_id && real != 0 && effective != 0;
}

void sweep_up(const SweeperPlan& plan, pid_t group) {
  if (plan.job_id != 0) {
    ::kill(-1, SIGKILL);
  } else if (group > 1) {
    ::kill(-group, SIGKILL);
  }
}

[[noreturn]] void serve(const SweeperPlan& plan, int line) {
  ::dup2(line, 0);
  ::close_range(1, ~0u, 0);
  pid_t group = 0;
  for (;;) {
    pid_t word = 0;
    ssize_t n = ::read(0, &word, sizeof word);
    if (n < 0 && errno == EINTR) continue;
    if (n == static_cast<ssize_t>(sizeof word) && word != kSweepNow) {
      group = word;
      continue;
    }
    sweep_up(plan, group);
    if (n <= 0 || ::write(0, "s", 1) != 1) ::_exit(0);
  }
}

bool tell(int line, pid_t word) {
  ssize_t n;
  do {
    n = ::write(line, &word, sizeof word);
  } while (n < 0 && errno == EINTR);
  return n == static_cast<ssize_t>(sizeof word);
}

// A byte from the other side; false when it is gone.
bool hear(int line) {
  char word = 0;
  ssize_t n;
  do {
    n = ::read(line, &word, 1);
  } while (n < 0 && errno == EINTR);
  return n == 1;
}

}  // namespace

int start_sweeper(const SweeperPlan& plan, int& line) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return errno;
  long pid = ::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid < 0) return errno;
  if (pid == 0) {
    ::close(ends[0]);
    ::setpgid(0, 0);
    if (plan.job_id != 0 && !take_ids(plan)) ::_exit(1);
    if (::write(ends[1], "r", 1) != 1) ::_exit(1);
    serve(plan, ends[1]);
  }
  ::close(ends[1]);
  line = ends[0];
  return hear(line) ? 0 : EPERM;
}

void arm_sweeper(int line, pid_t group) { (void)tell(line, group); }

void sweep(int line) {
  if (tell(line, kSweepNow)) (void)hear(line);
}

}  // namespace shim
