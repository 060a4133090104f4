#include "sandbox/sys/spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/sys/file.h"

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif
#ifndef P_PIDFD
#define P_PIDFD 3
#endif

namespace sys {

Child::~Child() {
  if (!pidfd_) return;
  kill();
  (void)wait();
}

void Child::kill(int signal) const {
  ::syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0);
}

Result<int> Child::wait() {
  Result<int> status = reap();
  pidfd_.reset();
  return status;
}

Result<int> Child::reap() const {
  siginfo_t info{};
  int result;
  do {
    result = ::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(pidfd_.get()), &info,
                      WEXITED | __WALL);
    // A loop that watches a descriptor makes it non-blocking, and then waitid(2) does not wait.
    pollfd end = {pidfd_.get(), POLLIN, 0};
    if (result < 0 && errno == EAGAIN && ::poll(&end, 1, -1) >= 0) errno = EINTR;
  } while (result < 0 && errno == EINTR);
  if (result < 0) return Error::from_errno("wait for child");
  return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

namespace {

constexpr int kMostDescriptors = 64;

// Runs in the child of a possibly threaded process: system calls only.
[[noreturn]] void become_program(const char* path, char* const* argv, char* const* environment,
                                 const int* fds, int count) {
  // A process group of its own: Ctrl-C at a terminal reaches the whole foreground group, and it is
  // the daemon's to end what it started. Not a session: the scheduler would treat it as a stranger
  // (autogroup, sched(7)), and a SCHED_IDLE job would compete with the daemon as an equal.
  ::setpgid(0, 0);
  // Two passes, so that no source is overwritten before it has been copied. The copies wait where
  // nothing is: a busy daemon has sources at any number.
  int parked[kMostDescriptors];
  for (int i = 0; i < count; ++i) {
    parked[i] = ::fcntl(fds[i], F_DUPFD, count);
    if (parked[i] < 0) ::_exit(127);
  }
  for (int i = 0; i < count; ++i) {
    // Not the library's: where a sanitizer watches it, it asks who of our threads has opened that
    // number, and this is a process of its own.
    if (::syscall(SYS_dup3, parked[i], i, 0) < 0) ::_exit(127);
  }
  ::syscall(SYS_close_range, static_cast<unsigned>(count), ~0u, 0u);
  // A shortage of ours is over some day; a child that began with little would keep it.
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(path, argv, environment);
  ::_exit(127);
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& s : strings) out.push_back(const_cast<char*>(s.c_str()));
  out.push_back(nullptr);
  return out;
}

}  // namespace

Result<Child> spawn(const SpawnRequest& request) {
  VERIFY(request.descriptors.size() <= kMostDescriptors);
  std::vector<char*> argv = pointers(request.argv);
  std::vector<char*> environment = pointers(request.environment);
  const std::string& path = request.program.empty() ? request.argv[0] : request.program;
  int pidfd = -1;
  long pid = ::syscall(SYS_clone, SIGCHLD | CLONE_PIDFD, nullptr, &pidfd, nullptr, nullptr);
  if (pid < 0) return Error::from_errno("start " + request.argv[0]);
  if (pid == 0) {
    become_program(path.c_str(), argv.data(), environment.data(), request.descriptors.data(),
                   static_cast<int>(request.descriptors.size()));
  }
  return Child(OwnedFd(pidfd));
}

Result<SpawnOutput> run_and_read(const std::vector<std::string>& argv) {
  Pipe pipe = TRY(make_pipe());
  OwnedFd null = TRY(open("/dev/null", O_RDONLY));
  Child child = TRY(
      spawn({argv, {"PATH=/usr/bin:/bin", "LANG=C.UTF-8"}, {null.get(), pipe.writer.get(), 2}}));
  pipe.writer.reset();
  std::string text = TRY(read_all(pipe.reader.get(), size_t{1} << 20));
  int status = TRY(child.wait());
  return SpawnOutput{status, std::move(text)};
}

}  // namespace sys
