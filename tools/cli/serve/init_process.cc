#include "tools/cli/serve/init_process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cli {
namespace {

constexpr int kPassedOn[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

[[noreturn]] void serve_as_init(pid_t child, const sigset_t& awaited) {
  for (;;) {
    const int signal = ::sigwaitinfo(&awaited, nullptr);
    if (signal > 0 && signal != SIGCHLD) ::kill(child, signal);
    int status = 0;
    for (pid_t ended = 1; ended > 0;) {
      ended = ::waitpid(-1, &status, WNOHANG);
      if (ended == child) ::_exit(exit_code_of(status));
    }
  }
}

}  // namespace

sys::Result<void> leave_pid_1() {
  if (::getpid() != 1) return {};
  sigset_t awaited, before;
  ::sigemptyset(&awaited);
  ::sigaddset(&awaited, SIGCHLD);
  for (int signal : kPassedOn) ::sigaddset(&awaited, signal);
  // Blocked, not handled: none is lost between the fork and the wait.
  ::sigprocmask(SIG_BLOCK, &awaited, &before);
  const pid_t child = ::fork();
  if (child < 0) return sys::Error::from_errno("fork from pid 1");
  if (child > 0) serve_as_init(child, awaited);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return {};
}

}  // namespace cli
