#include "sandbox/probe/child.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/sys/file.h"
#include "sandbox/sys/units.h"

namespace sandbox {

namespace {

constexpr int kPatienceMs = 3000;  // ample: the slowest trial takes milliseconds
constexpr int kCrowdedMs = 60000;  // for a host without room for one process more

// Waits until the answer is there, the child is gone, or patience ends.
ProbeAnswer receive(int pipe) {
  const sys::Nanoseconds deadline = sys::monotonic_now() + sys::Milliseconds(kPatienceMs);
  for (;;) {
    auto left = std::chrono::ceil<sys::Milliseconds>(deadline - sys::monotonic_now()).count();
    if (left <= 0) return refused("answer in time", ETIMEDOUT);
    pollfd watched{.fd = pipe, .events = POLLIN, .revents = 0};
    int ready = ::poll(&watched, 1, static_cast<int>(left));
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    ProbeAnswer answer;
    // Smaller than PIPE_BUF: whole or nothing.
    ssize_t n = ::read(pipe, &answer, sizeof answer);
    if (n == static_cast<ssize_t>(sizeof answer)) return answer;
    return refused("survive the attempt (a filter may kill)", EPERM);
  }
}

ProbeAnswer attempt(ProbeFunction function, const void* argument) {
  sys::Result<sys::Pipe> pipe = sys::make_pipe();
  if (!pipe) return refused("make a pipe", pipe.error().code());
  const pid_t parent = ::getpid();
  // Not the library's fork: its handlers may start threads (sanitizers do), and a process with
  // threads cannot unshare a user namespace.
  const auto child =
      static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child < 0) return refused("fork");
  if (child == 0) {
    // Asked again after the request: the parent may have died in between.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ProbeAnswer answer = function(argument);
    (void)!::write(pipe->writer.get(), &answer, sizeof answer);
    ::_exit(0);
  }
  pipe->writer.reset();
  ProbeAnswer answer = receive(pipe->reader.get());
  ::kill(child, SIGKILL);  // not reaped yet, so the pid is still the child's
  while (::waitpid(child, nullptr, __WALL) < 0 && errno == EINTR) {
  }
  return answer;
}

}  // namespace

// A shortage that lasts a moment only must not look like a layer that the host does not have. All
// trials together wait no longer than one: a host may have limits that never give way.
ProbeAnswer run_in_child(ProbeFunction function, const void* argument) {
  for (;;) {
    const ProbeAnswer answer = attempt(function, argument);
    const bool crowded = answer.error == EAGAIN || answer.error == ENOMEM;
    if (!crowded) return answer;
    static const sys::Nanoseconds deadline = sys::monotonic_now() + sys::Milliseconds(kCrowdedMs);
    if (sys::monotonic_now() >= deadline) return answer;
    ::poll(nullptr, 0, 20);
  }
}

int wait_for(int pid, const char** step) {
  int status = 0;
  while (::waitpid(pid, &status, __WALL) < 0) {
    if (errno != EINTR) return errno;
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  *step = "survive the attempt (a filter may kill)";
  return EPERM;
}

ProbeAnswer run_in_grandchild(int (*function)(), const char* step) {
  pid_t pid = ::fork();
  if (pid < 0) return refused("fork into the namespace");
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::_exit(function());  // every errno fits into an exit code
  }
  int error = wait_for(pid, &step);
  return {error, step, 0};
}

}  // namespace sandbox
