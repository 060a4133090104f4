// A step of a session whose source is a command of the shell, in the files and with the environment
// of the steps before it. What it leaves in the background ends with it.

#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>

#include "shim/python/interpreter_refs.h"
#include "shim/python/load.h"
#include "shim/python/values/encode.h"

namespace shim {
namespace {

constexpr const char* kShell = "/bin/sh";
constexpr int kSignalled = 128;                     // plus the signal, as shells say it
constexpr size_t kMostCommand = size_t{128} << 10;  // of one argument (execve(2))

// What the program wants to know of its children is no matter of these.
class WithoutHandlerOfChildren {
 public:
  WithoutHandlerOfChildren() {
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &usual, &before_);
  }
  ~WithoutHandlerOfChildren() { ::sigaction(SIGCHLD, &before_, nullptr); }
  WithoutHandlerOfChildren(const WithoutHandlerOfChildren&) = delete;

 private:
  struct sigaction before_ {};
};

// With the actions and the mask that programs begin with. 0, or an error.
int start_shell(const char* command, bool leads_group, pid_t& child) {
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t all, none;
  ::sigfillset(&all);
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  const int of_group = leads_group ? POSIX_SPAWN_SETPGROUP : 0;
  ::posix_spawnattr_setflags(
      &attributes, static_cast<short>(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | of_group));
  const char* words[] = {"sh", "-c", command, nullptr};
  const int error =
      ::posix_spawn(&child, kShell, nullptr, &attributes, const_cast<char* const*>(words), environ);
  ::posix_spawnattr_destroy(&attributes);
  return error;
}

// Its number is its own until it is reaped. False: an exception is set.
bool await_end(pid_t child) {
  siginfo_t info;
  do {
    if (PyErr_CheckSignals() < 0) return false;
    if (::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0) return true;
  } while (errno == EINTR);
  PyErr_SetFromErrno(PyExc_OSError);
  return false;
}

// Its orphans are ours meanwhile. One that has left the group stays, and then so does the session.
void reap_group(pid_t group) {
  while (::waitpid(-group, nullptr, 0) > 0 || errno == EINTR) {
  }
}

int exit_code_of(int status) {
  return WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status);
}

// False: an exception is set.
bool write_code(int code, const Answer& answer, Ending& ending) {
  Ref value = Ref::steal(PyLong_FromLong(code));
  if (!value) return false;
  Encoder results(answer.payload(), answer.space.capacity);
  results.open_results();
  const bool fits = results.add_result(value.get()) == Encoder::Outcome::kFine &&
                    results.add_result(Py_None) == Encoder::Outcome::kFine;
  if (!fits) PyErr_SetString(PyExc_ValueError, "limits.value_kb has no room for the exit status");
  if (fits) ending = {AnswerKind::kValue, results.size(), 0};
  return fits;
}

// An exception is set where there is no status.
std::optional<int> status_of(const std::string& command) {
  if (command.find('\0') != command.npos || command.size() >= kMostCommand) {
    PyErr_SetString(PyExc_ValueError, "a command of the shell has no NUL, and less than 128 KiB");
    return std::nullopt;
  }
  const WithoutHandlerOfChildren meanwhile;
  pid_t child = 0;
  bool leads_group = true;
  int error = start_shell(command.c_str(), leads_group, child);
  // Where cells share a uid, groups are how their processes are told apart.
  if (error == EPERM) error = start_shell(command.c_str(), leads_group = false, child);
  if (error != 0) {
    errno = error;
    PyErr_SetFromErrnoWithFilename(PyExc_OSError, kShell);
    return std::nullopt;
  }
  const bool has_ended = await_end(child);
  int status = 0;
  if (!has_ended) ::kill(child, SIGKILL);
  if (leads_group) ::kill(-child, SIGKILL);
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (leads_group) reap_group(child);
  return has_ended ? std::optional(exit_code_of(status)) : std::nullopt;
}

}  // namespace

Ending run_shell(const Request& request, const Answer& answer) {
  // Best effort: without it, what is left is found, and the step is not kept.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const std::optional<int> status = status_of(std::string(request.source));
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  Ending ending;
  if (!status || !write_code(*status, answer, ending))
    return end_script(answer, Stage::kRun, request.source);
  return ending;
}

}  // namespace shim
