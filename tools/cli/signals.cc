#include "tools/cli/signals.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>

namespace cli {
namespace {

// The variables that signal handlers may reach; the only mutable globals of the command line.
volatile sig_atomic_t g_pipe = -1;
volatile sig_atomic_t g_reload = -1;
volatile sig_atomic_t g_came = 0;

void on_stop(int) {
  int saved = errno;
  if (g_came != 0) ::_exit(130);
  g_came = 1;
  char byte = 0;
  [[maybe_unused]] ssize_t n = ::write(g_pipe, &byte, 1);
  errno = saved;
}

void on_reload(int) {
  int saved = errno;
  char byte = 0;
  [[maybe_unused]] ssize_t n = ::write(g_reload, &byte, 1);
  errno = saved;
}

void on_broken_pipe(int) {}

bool ignored(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

sys::Result<void> handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  if (::sigaction(signal, &action, nullptr) != 0) return sys::Error::from_errno("sigaction");
  return {};
}

}  // namespace

sys::Result<StopSignals> StopSignals::install() {
  sys::Pipe pipe = TRY(sys::make_pipe(O_NONBLOCK));
  g_pipe = pipe.writer.get();
  TRY(handle(SIGINT, on_stop));
  TRY(handle(SIGTERM, on_stop));
  if (!ignored(SIGHUP)) TRY(handle(SIGHUP, on_stop));  // nohup keeps its meaning
  TRY(handle(SIGPIPE, on_broken_pipe));
  return StopSignals(std::move(pipe));
}

sys::Result<sys::OwnedFd> install_reload_signal() {
  if (ignored(SIGHUP) || ::isatty(STDIN_FILENO) == 1) return sys::OwnedFd();
  sys::Pipe pipe = TRY(sys::make_pipe(O_NONBLOCK));
  g_reload = pipe.writer.release();
  TRY(handle(SIGHUP, on_reload));
  return std::move(pipe.reader);
}

bool StopSignals::came() const { return g_came != 0; }

void StopSignals::wait() const {
  pollfd entry{fd(), POLLIN, 0};
  while (::poll(&entry, 1, -1) < 0 && errno == EINTR) {
  }
}

}  // namespace cli
