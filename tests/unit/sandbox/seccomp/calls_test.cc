// Which calls pass, which are asked about and which fail quietly, by subject and profile.
#include <fcntl.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <csignal>

#include "tests/unit/sandbox/seccomp/filter.h"

using namespace sandbox;
using namespace sandbox::test;

namespace {

// Garbage where the kernel does not look.
constexpr uint64_t kGarbage = 0xdeadbeef00000000;

uint64_t word(int value) { return static_cast<uint32_t>(value); }

}  // namespace

TEST_CASE("every profile computes, and none connects", "[seccomp]") {
  for (Profile profile : kProfiles) {
    for (const char* name : {"read", "write", "futex", "brk", "munmap", "exit_group", "getrandom",
                             "statx", "faccessat2", "newfstatat", "membarrier", "rseq", "kill",
                             "close_range", "setresuid", "landlock_restrict_self", "waitid"}) {
      INFO(name);
      CHECK(act(profile, name) == kGo);
    }
    CHECK(act(profile, "socket", {AF_INET, SOCK_STREAM}) == kAsk);
    CHECK(act(profile, "socket", {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC}) == kAsk);
    CHECK(act(profile, "socket", {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK}) ==
          quiet(EACCES));
    CHECK(act(profile, "connect", {3, 0x1000, 16}) == kAsk);
    CHECK(act(profile, "sendto", {3, 0x1000, 16, 0, 0, 0}) == kGo);
    CHECK(act(profile, "sendto", {3, 0x1000, 16, 0, 0x1000, 16}) == kAsk);
    CHECK(act(profile, "socketpair", {AF_UNIX, SOCK_DGRAM}) == kAsk);
    CHECK(act(profile, "socketpair", {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC}) ==
          (profile == Profile::kPure ? kAsk : kGo));
  }
}

TEST_CASE("clone makes threads from default on, processes from subprocess on, namespaces never",
          "[seccomp]") {
  constexpr uint64_t kThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                               CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |
                               CLONE_CHILD_CLEARTID;
  constexpr uint64_t kVfork = CLONE_VM | CLONE_VFORK | SIGCHLD;
  constexpr uint64_t kForbidden[] = {CLONE_PARENT, CLONE_PTRACE, CLONE_NEWUSER,
                                     CLONE_NEWNS,  CLONE_NEWPID, CLONE_NEWNET,
                                     CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP};
  for (Profile profile : kProfiles) {
    bool threads = profile != Profile::kPure;
    bool processes = threads && profile != Profile::kDefault;
    CHECK(act(profile, "clone", {kThread}) == (threads ? kGo : kAsk));
    CHECK(act(profile, "clone", {kThread | uint64_t{1} << 32}) == (threads ? kGo : kAsk));
    CHECK(act(profile, "clone", {CLONE_THREAD}) == kAsk);
    for (uint64_t flags : {uint64_t{SIGCHLD}, kVfork, uint64_t{SIGCHLD | CLONE_PIDFD}}) {
      CHECK(act(profile, "clone", {flags}) == (processes ? kGo : kAsk));
    }
    for (uint64_t flag : kForbidden) {
      CHECK(act(profile, "clone", {SIGCHLD | flag}) == kAsk);
      CHECK(act(profile, "clone", {kThread | flag}) == kAsk);
      CHECK(act(profile, "clone", {kVfork | flag | uint64_t{1} << 40}) == kAsk);
    }
    CHECK(act(profile, "clone3", {0x1000, 88}) == quiet(ENOSYS));
    CHECK(act(profile, "execve", {0x1000}) == (processes ? kGo : kAsk));
    CHECK(act(profile, "execveat", {3, 0x1000}) == (processes ? kGo : kAsk));
  }
}

TEST_CASE("files open to be read; every other open is asked about", "[seccomp]") {
  constexpr uint64_t kHere = 0xffffff9c;  // AT_FDCWD
  for (Profile profile : kProfiles) {
    for (int flags : {O_RDONLY, O_RDONLY | O_CLOEXEC, O_PATH, O_DIRECTORY, O_NOFOLLOW | O_NONBLOCK,
                      O_RDONLY | O_APPEND}) {
      CHECK(act(profile, "openat", {kHere, 0x1000, static_cast<uint64_t>(flags)}) == kGo);
    }
    for (int flags : {O_WRONLY, O_RDWR, O_RDONLY | O_CREAT, O_RDONLY | O_TRUNC, O_ACCMODE,
                      O_TMPFILE | O_RDWR}) {
      CHECK(act(profile, "openat", {kHere, 0x1000, static_cast<uint64_t>(flags)}) == kAsk);
    }
    CHECK(act(profile, "openat2", {kHere, 0x1000, 0x2000, 24}) == quiet(ENOSYS));
    CHECK(act(profile, "utimensat", {3, 0, 0x1000, 0}) == kGo);
    CHECK(act(profile, "utimensat", {kHere, 0x1000, 0x2000, 0}) == kAsk);
    CHECK(act(profile, "ftruncate", {3, 0}) == kGo);
    CHECK(act(profile, "unlinkat", {kHere, 0x1000, 0}) == kAsk);
  }
}

TEST_CASE("calls that could name another process name only the caller", "[seccomp]") {
  for (Profile profile : kProfiles) {
    CHECK(act(profile, "prlimit64", {0, 0, 0x1000, 0}) == kGo);
    CHECK(act(profile, "prlimit64", {1, 0, 0x1000, 0}) == kAsk);
    CHECK(act(profile, "prlimit64", {1 | uint64_t{1} << 32, 0, 0x1000, 0}) == kAsk);
    CHECK(act(profile, "setpriority", {0, 0, 19}) == kGo);
    CHECK(act(profile, "setpriority", {0, 1, 19}) == kAsk);
    CHECK(act(profile, "ioprio_set", {1, 0, 0}) == kGo);
    CHECK(act(profile, "ioprio_set", {1, 1, 0}) == kAsk);
    CHECK(act(profile, "sched_setscheduler", {0, SCHED_IDLE, 0x1000}) == kGo);
    CHECK(act(profile, "sched_setscheduler", {1, SCHED_IDLE, 0x1000}) == kAsk);
    CHECK(act(profile, "sched_setaffinity", {0, 8, 0x1000}) == quiet(EPERM));
    CHECK(act(profile, "personality", {0xffffffff}) == kGo);
    CHECK(act(profile, "personality", {0x40000}) == kAsk);
  }
}

TEST_CASE("prctl, fcntl and ioctl go by the command", "[seccomp]") {
  for (Profile profile : kProfiles) {
    for (int option : {PR_SET_NAME, PR_GET_NAME, PR_SET_PDEATHSIG, PR_GET_DUMPABLE,
                       PR_SET_NO_NEW_PRIVS, PR_CAPBSET_READ, PR_CAPBSET_DROP, PR_SET_TIMERSLACK}) {
      CHECK(act(profile, "prctl", {static_cast<uint64_t>(option), 5}) == kGo);
    }
    for (int option : {PR_SET_SECCOMP, PR_SET_MM, PR_SET_KEEPCAPS, PR_SET_SECUREBITS, 9999}) {
      CHECK(act(profile, "prctl", {static_cast<uint64_t>(option), 1}) == kAsk);
    }
    CHECK(act(profile, "prctl", {PR_SET_DUMPABLE, 0}) == kGo);
    CHECK(act(profile, "prctl", {PR_SET_DUMPABLE, 1}) == kAsk);
    CHECK(act(profile, "fcntl", {0, F_SETFL, O_NONBLOCK}) == kGo);
    CHECK(act(profile, "fcntl", {0, F_SETOWN, 1}) == quiet(EPERM));
    CHECK(act(profile, "fcntl", {0, F_SETPIPE_SZ | uint64_t{9} << 32, 1}) == quiet(EPERM));
    CHECK(act(profile, "ioctl", {0, TCGETS}) == kGo);
    CHECK(act(profile, "ioctl", {0, FIONBIO}) == kGo);
    CHECK(act(profile, "ioctl", {0, TIOCSTI}) == kAsk);
    CHECK(act(profile, "ioctl", {0, TIOCSTI | uint64_t{1} << 32}) == kAsk);
    CHECK(act(profile, "ioctl", {0, TIOCLINUX}) == kAsk);
  }
}

TEST_CASE("huge pages of the host are refused as if it had none", "[seccomp]") {
  for (Profile profile : kProfiles) {
    CHECK(act(profile, "mmap", {0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS}) == kGo);
    CHECK(act(profile, "mmap", {0, 4096, 3, MAP_PRIVATE | MAP_HUGETLB}) == quiet(ENOMEM));
  }
}

TEST_CASE("garbage in the upper half of an argument neither hides a call nor condemns it",
          "[seccomp]") {
  struct Case {
    const char* call;
    std::vector<uint64_t> args;
  };
  const Case cases[] = {
      {"clone", {CLONE_NEWUSER | SIGCHLD}},
      {"clone", {SIGCHLD}},
      {"clone", {CLONE_VM | CLONE_SIGHAND | CLONE_THREAD}},
      {"clone", {CLONE_PARENT | SIGCHLD}},
      {"clone", {CLONE_PTRACE | SIGCHLD}},
      {"ioctl", {0, TIOCSTI}},
      {"ioctl", {0, TIOCLINUX}},
      {"ioctl", {0, TCGETS}},
      {"fcntl", {0, F_SETOWN}},
      {"fcntl", {0, F_GETFL}},
      {"prctl", {PR_SET_NAME}},
      {"prctl", {PR_SET_MM}},
      {"prctl", {PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL}},
      {"prctl", {PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE}},
      {"prlimit64", {0, RLIMIT_CPU}},
      {"prlimit64", {1, RLIMIT_CPU}},
      {"setpriority", {PRIO_PROCESS, 0}},
      {"setpriority", {PRIO_PROCESS, 1}},
      {"setpriority", {PRIO_USER, 0}},
      {"socket", {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK}},
      {"socket", {AF_INET, SOCK_STREAM}},
      {"socketpair", {AF_UNIX, SOCK_STREAM}},
      {"socketpair", {AF_UNIX, SOCK_DGRAM}},
      {"setsockopt", {0, SOL_SOCKET, SO_LINGER}},
      {"setsockopt", {0, SOL_SOCKET, SO_SNDBUFFORCE}},
      {"openat", {word(AT_FDCWD), 0x1000, O_RDONLY | O_CLOEXEC}},
      {"openat", {word(AT_FDCWD), 0x1000, O_WRONLY | O_CREAT}},
      {"mmap", {0, 4096, 3, MAP_PRIVATE | MAP_HUGETLB}},
      {"mmap", {0, 4096, 3, MAP_PRIVATE}},
      {"memfd_create", {0x1000, 1}},
      {"memfd_create", {0x1000, 4}},
      {"personality", {0xffffffff}},
      {"sched_setscheduler", {0, SCHED_IDLE}},
      {"sched_setparam", {1}},
      {"process_madvise", {word(-10000)}},
      {"process_madvise", {3}},
  };
  for (Profile profile : kProfiles) {
    for (const Case& one : cases) {
      seccomp_data data = native_call(call_number(one.call).value);
      std::copy(one.args.begin(), one.args.end(), data.args);
      const Action clean = run(filter_of(profile), data);
      for (size_t i = 0; i < one.args.size(); ++i) data.args[i] |= kGarbage;
      INFO(name_of(profile) << ": " << one.call << " " << std::hex << one.args.back());
      CHECK(run(filter_of(profile), data) == clean);
    }
  }
}

TEST_CASE("pointers are looked at whole: an address with an empty lower half is one", "[seccomp]") {
  constexpr uint64_t kHigh = uint64_t{1} << 32;
  for (Profile profile : kProfiles) {
    CHECK(act(profile, "sendto", {3, 0x1000, 16, 0, kHigh, 16}) == kAsk);
    CHECK(act(profile, "utimensat", {3, kHigh, 0x1000, 0}) == kAsk);
    CHECK(act(profile, "prctl", {PR_SET_DUMPABLE, kHigh}) == kAsk);
  }
}

TEST_CASE("of prctl, what changes others, memory maps or the filter is asked about", "[seccomp]") {
  constexpr int kRefused[] = {PR_SET_SECCOMP,
                              PR_SET_MM,
                              PR_SET_PTRACER,
                              PR_SET_KEEPCAPS,
                              PR_SET_SECUREBITS,
                              PR_SET_TSC,
                              PR_SET_UNALIGN,
                              PR_SET_FPEMU,
                              PR_SET_TIMING,
                              PR_MCE_KILL,
                              PR_SET_SPECULATION_CTRL,
                              PR_SET_IO_FLUSHER,
                              PR_SET_SYSCALL_USER_DISPATCH,
                              PR_SCHED_CORE,
                              PR_TASK_PERF_EVENTS_DISABLE,
                              PR_TASK_PERF_EVENTS_ENABLE,
                              9999};
  for (Profile profile : kProfiles) {
    for (int option : kRefused) {
      INFO(option);
      CHECK(act(profile, "prctl", {word(option), 1}) == kAsk);
    }
    CHECK(act(profile, "prctl", {PR_SET_THP_DISABLE, 1}) == kGo);  // one's own memory; ruby
    CHECK(act(profile, "prctl", {PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE}) == kAsk);
    CHECK(act(profile, "prctl", {PR_CAP_AMBIENT, PR_CAP_AMBIENT_LOWER}) == kAsk);
    CHECK(act(profile, "prctl", {PR_SET_CHILD_SUBREAPER, 1}) ==
          (profile >= Profile::kSubprocess ? kGo : kAsk));
  }
}

TEST_CASE("rings fail quietly where libuv runs, and are asked about elsewhere", "[seccomp]") {
  CHECK(act(Profile::kPure, "io_uring_setup", {8, 0x1000}) == kAsk);
  CHECK(act(Profile::kDefault, "io_uring_setup", {8, 0x1000}) == kAsk);
  CHECK(act(Profile::kSubprocess, "io_uring_setup", {8, 0x1000}) == quiet(ENOSYS));
  CHECK(act(Profile::kBuild, "io_uring_setup", {8, 0x1000}) == quiet(ENOSYS));
  for (Profile profile : kProfiles) CHECK(act(profile, "io_uring_enter", {3, 1}) == kAsk);
}
