#include "sandbox/enclosure/inside.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "sandbox/sys/file.h"

namespace sandbox {
namespace {

using sys::Error;
using sys::Result;

constexpr int kLastOfParents = 2;

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& each : strings) out.push_back(const_cast<char*>(each.c_str()));
  out.push_back(nullptr);
  return out;
}

// Where there are no namespaces the folder is what it is on the host, and the caller empties it.
Result<void> fill_folder(const EnclosurePlan& plan) {
  for (const char* name : {"/work", "/given"}) {
    if (::mkdir((plan.folder + name).c_str(), 0700) < 0)
      return Error::from_errno("mkdir " + plan.folder + name);
  }
  for (const auto& [name, content] : plan.given) {
    const sys::OwnedFd file =
        TRY(sys::open(plan.folder + "/given/" + name, O_WRONLY | O_CREAT | O_EXCL));
    TRY(sys::write_all(file.get(), content));
  }
  return {};
}

Result<void> prepare(const EnclosurePlan& plan) {
  if (plan.group != nullptr) {
    for (const int join : plan.group->join_fds()) {
      if (::write(join, "0", 1) != 1) return Error::from_errno("join control group");
    }
  }
  TRY(plan.fence == Fence::kNamespaces ? mount_enclosure(plan) : fill_folder(plan));
  const std::string work = plan.folder + "/work";
  if (::chdir(work.c_str()) < 0) return Error::from_errno("chdir " + work);
  return {};
}

// No dump is written, and no file is longer than the memory for all of them.
void set_limits(const EnclosurePlan& plan) {
  const rlimit none{.rlim_cur = 0, .rlim_max = 0};
  (void)::setrlimit(RLIMIT_CORE, &none);
  rlimit size{};
  if (plan.fence == Fence::kNamespaces || ::getrlimit(RLIMIT_FSIZE, &size) < 0) return;
  size.rlim_cur = std::min<rlim_t>(size.rlim_cur, plan.memory.count);
  (void)::setrlimit(RLIMIT_FSIZE, &size);
}

[[noreturn]] void become_command(const EnclosurePlan& plan) {
  ::setsid();
  const std::array<int, 3> wanted = {plan.in, plan.out, plan.err};
  std::array<int, 3> parked{};
  for (size_t i = 0; i < wanted.size(); ++i) parked[i] = ::fcntl(wanted[i], F_DUPFD, 10);
  for (size_t i = 0; i < wanted.size(); ++i) ::dup2(parked[i], static_cast<int>(i));
  ::syscall(SYS_close_range, static_cast<unsigned>(kLastOfParents + 1), ~0u, 0u);
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const std::vector<char*> argv = pointers(plan.argv), environment = pointers(plan.environment);
  ::execve(argv[0], argv.data(), environment.data());
  ::_exit(127);
}

sigset_t what_is_awaited() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  ::sigaddset(&set, SIGTERM);
  return set;
}

[[noreturn]] void give_up(const EnclosurePlan& plan, const std::string& reason) {
  (void)!::write(plan.trouble, reason.data(), reason.size());
  ::_exit(1);
}

// The command's status; that of a kill if SIGTERM came first. Both signals are blocked.
int await(pid_t command) {
  const sigset_t awaited = what_is_awaited();
  for (;;) {
    int status = 0;
    for (pid_t ended = 1; ended > 0;) {
      ended = ::waitpid(-1, &status, WNOHANG | __WALL);
      if (ended == command) return status;
    }
    if (::sigwaitinfo(&awaited, nullptr) == SIGTERM) return SIGKILL;
  }
}

// Kills what is left below us, generation by generation: an orphan becomes our child.
void end_descendants() {
  for (;;) {
    const Result<std::string> text =
        sys::read_file("/proc/self/task/" + std::to_string(::getpid()) + "/children", 1 << 20);
    for (const char* at = text ? text->c_str() : ""; *at != '\0';) {
      char* end = nullptr;
      const long pid = std::strtol(at, &end, 10);
      if (end == at) break;
      if (pid > 0) ::kill(static_cast<pid_t>(pid), SIGKILL);
      at = *end == '\0' ? end : end + 1;
    }
    if (::waitpid(-1, nullptr, __WALL) < 0 && errno == ECHILD) return;
  }
}

int status_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

void lead_enclosure(const EnclosurePlan& plan) {
  const bool fenced = plan.fence == Fence::kNamespaces;
  ::prctl(PR_SET_PDEATHSIG, fenced ? SIGKILL : SIGTERM, 0, 0, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  for (const int signal : {SIGINT, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  const sigset_t awaited = what_is_awaited();
  ::sigprocmask(SIG_BLOCK, &awaited, nullptr);
  if (Result<void> ready = prepare(plan); !ready) give_up(plan, ready.error().text());
  set_limits(plan);
  const pid_t command = ::fork();
  if (command == 0) become_command(plan);
  if (command < 0) give_up(plan, Error::from_errno("fork").text());
  ::close(plan.trouble);
  const int status = await(command);
  if (!fenced) end_descendants();
  ::_exit(status_of(status));  // of a pid namespace this is the end of all
}

}  // namespace sandbox
