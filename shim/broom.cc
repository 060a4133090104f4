#include "shim/broom.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/caps.h"

namespace shim {

namespace {

constexpr pid_t kSweepNow = 0;

// All three ids, then no capability: with CAP_KILL, or with root's id left anywhere, kill(-1) would
// be the end of the host.
bool take_ids(const BroomPlan& plan) {
  if (::syscall(SYS_setgroups, 0, nullptr) < 0) return false;
  if (::syscall(SYS_setresgid, plan.broom_id, plan.broom_id, plan.broom_id) < 0) return false;
  if (::syscall(SYS_setresuid, plan.broom_id, plan.job_id, plan.broom_id) < 0) return false;
  if (sandbox::drop_all_caps() != 0 || sandbox::has_any_cap()) return false;
  uint32_t real = 0, effective = 0, saved = 0;
  return ::syscall(SYS_getresuid, &real, &effective, &saved) == 0 && real == plan.broom_id &&
         effective == plan.job_id && saved == plan.broom_id && real != 0 && effective != 0;
}

void sweep_up(const BroomPlan& plan, pid_t group) {
  if (plan.job_id != 0) {
    ::kill(-1, SIGKILL);
  } else if (group > 1) {
    ::kill(-group, SIGKILL);
  }
}

[[noreturn]] void serve(const BroomPlan& plan, int pipe) {
  ::dup2(pipe, 0);
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
    if (n <= 0) ::_exit(0);
  }
}

void tell(int pipe, pid_t word) {
  while (::write(pipe, &word, sizeof word) < 0 && errno == EINTR) {
  }
}

}  // namespace

int start_broom(const BroomPlan& plan, int& pipe) {
  int ends[2], ready[2];
  if (::pipe2(ends, O_CLOEXEC) < 0 || ::pipe2(ready, O_CLOEXEC) < 0) return errno;
  long pid = ::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid < 0) return errno;
  if (pid == 0) {
    ::close(ends[1]);
    ::setpgid(0, 0);
    if (plan.job_id != 0 && !take_ids(plan)) ::_exit(1);
    (void)!::write(ready[1], "r", 1);
    serve(plan, ends[0]);
  }
  ::close(ends[0]);
  ::close(ready[1]);
  char word = 0;
  ssize_t n;
  do {
    n = ::read(ready[0], &word, 1);
  } while (n < 0 && errno == EINTR);
  ::close(ready[0]);
  pipe = ends[1];
  return n == 1 ? 0 : EPERM;
}

void arm_broom(int pipe, pid_t group) { tell(pipe, group); }
void sweep(int pipe) { tell(pipe, kSweepNow); }

}  // namespace shim
