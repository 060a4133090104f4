// Trials of filters, privileges and process calls. Everything here runs in a forked child.

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "sandbox/caps.h"
#include "sandbox/core_scheduling.h"
#include "sandbox/landlock.h"
#include "sandbox/probe/child.h"
#include "sandbox/rlimits.h"

namespace sandbox {

namespace {

constexpr int kOddErrno = EXDEV;  // nothing else answers getppid with these two
constexpr long kOddAnswer = 424242;

// Loads a filter that treats getppid as told and allows the rest. Returns the descriptor or 0; -1.
int load_filter(uint32_t action, unsigned flags) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{.len = sizeof code / sizeof code[0], .filter = code};
  return static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program));
}

int ask_parent_pid() { return ::syscall(SYS_getppid) == kOddAnswer ? 0 : EPROTO; }

// One notification, taken and answered. The kernel's structures may be longer than the header's.
ProbeAnswer answer_one(int listener) {
  alignas(8) unsigned char request_space[1024] = {};
  alignas(8) unsigned char reply_space[1024] = {};
  seccomp_notif_sizes sizes{};
  if (::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0 ||
      sizes.seccomp_notif > sizeof request_space || sizes.seccomp_notif_resp > sizeof reply_space) {
    return refused("ask the size of a notification");
  }
  pollfd watched{.fd = listener, .events = POLLIN, .revents = 0};
  if (::poll(&watched, 1, 2000) != 1) return refused("wait for a notification", ETIMEDOUT);
  if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, request_space) < 0) {
    return refused("receive a notification");
  }
  seccomp_notif request{};
  std::memcpy(&request, request_space, sizeof request);
  const seccomp_notif_resp reply{.id = request.id, .val = kOddAnswer, .error = 0, .flags = 0};
  std::memcpy(reply_space, &reply, sizeof reply);
  if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, reply_space) < 0) {
    return refused("answer a notification");
  }
  return {};
}

}  // namespace

ProbeAnswer try_seccomp(const void*) {
  if (int error = set_no_new_privs()) return refused("set no_new_privs", error);
  if (load_filter(SECCOMP_RET_ERRNO | kOddErrno, 0) < 0) return refused("load a filter");
  if (::syscall(SYS_getppid) < 0 && errno == kOddErrno) return {};
  return refused("be refused by the filter", EPROTO);
}

ProbeAnswer try_notification(const void*) {
  if (int error = set_no_new_privs()) return refused("set no_new_privs", error);
  int listener = load_filter(SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER);
  if (listener < 0) return refused("load a filter with a listener");
  pid_t pid = ::fork();
  if (pid < 0) return refused("fork");
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::_exit(ask_parent_pid());
  }
  if (ProbeAnswer answered = answer_one(listener); !answered.ok()) {
    ::kill(pid, SIGKILL);
    return answered;
  }
  const char* step = "see the answer to a notification";
  int error = wait_for(pid, &step);
  return {error, step, 0};
}

ProbeAnswer try_landlock(const void* ruleset_fd) {
  if (int error = set_no_new_privs()) return refused("set no_new_privs", error);
  if (int error = restrict_self(*static_cast<const int*>(ruleset_fd))) {
    return refused("enter a Landlock domain", error);
  }
  if (::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) < 0 && errno == EACCES) return {};
  return refused("be refused by Landlock", EPROTO);
}

// The parent has our uid, so that nothing but the scope is in the way.
ProbeAnswer try_landlock_scope(const void* ruleset_fd) {
  if (landlock_abi() < 6) return refused("scope signals (ABI 6)", EOPNOTSUPP);
  if (int error = set_no_new_privs()) return refused("set no_new_privs", error);
  if (int error = restrict_self(*static_cast<const int*>(ruleset_fd))) {
    return refused("enter a Landlock domain", error);
  }
  if (::kill(::getppid(), 0) < 0 && errno == EPERM) return {};
  return refused("be kept from signalling the parent", EPROTO);
}

namespace {

constexpr long kToBeRead = 0x7a79676f;

// Acts as a job that cannot be given its own user namespace: it has another uid and is dumpable.
[[noreturn]] void sit_as_job(const SpareIds& ids, int ready) {
  if (::setresgid(ids.gid, ids.gid, ids.gid) == 0) (void)!::setresuid(ids.uid, ids.uid, ids.uid);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // after the change, which clears it
  ::prctl(PR_SET_DUMPABLE, 1);
  const unsigned now[2] = {::geteuid(), ::getegid()};
  (void)!::write(ready, now, sizeof now);
  for (;;) ::pause();
}

// As the supervisor does it (notify/memory.cc); 0 and errno when it may not. `ids` are the child's.
long read_long(pid_t pid, const volatile long* address, const unsigned (&ids)[2]) {
  long seen = 0;
  iovec local{&seen, sizeof seen};
  iovec remote{const_cast<long*>(address), sizeof seen};
  errno = 0;
  if (::process_vm_readv(pid, &local, 1, &remote, 1, 0) == sizeof seen) return seen;
  ::setfsgid(ids[1]);
  ::setfsuid(ids[0]);
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/mem", pid);
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || ::pread(fd, &seen, sizeof seen, reinterpret_cast<off_t>(address)) < 0) return 0;
  return seen;
}

}  // namespace

ProbeAnswer try_read_job(const void* spare_ids) {
  const volatile long secret = kToBeRead;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return refused("make a pipe");
  const pid_t pid = ::fork();
  if (pid < 0) return refused("fork");
  if (pid == 0) sit_as_job(*static_cast<const SpareIds*>(spare_ids), ends[1]);
  unsigned ids[2] = {0, 0};
  if (::read(ends[0], ids, sizeof ids) != sizeof ids) return refused("start a child", ECHILD);
  const ProbeAnswer answer = read_long(pid, &secret, ids) == kToBeRead
                                 ? ProbeAnswer{}
                                 : refused("read a child's memory", errno != 0 ? errno : EPROTO);
  ::kill(pid, SIGKILL);  // if refused, the child ends with us
  return answer;
}

ProbeAnswer try_no_new_privs(const void*) {
  if (int error = set_no_new_privs()) return refused("set no_new_privs", error);
  return has_no_new_privs() ? ProbeAnswer{} : refused("read no_new_privs back", EPROTO);
}

ProbeAnswer try_drop_caps(const void*) {
  const bool could_bound = permitted_caps() != 0;
  if (could_bound) {
    if (int error = drop_bounding_set()) return refused("empty the bounding set", error);
  }
  if (int error = drop_all_caps()) return refused("drop capabilities", error);
  return has_any_cap() ? refused("have none left", EPROTO) : ProbeAnswer{};
}

ProbeAnswer try_rlimits(const void*) {
  if (int error = apply_rlimits(Rlimits{.open_files = 32})) return refused("setrlimit", error);
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) < 0) return refused("getrlimit");
  return now.rlim_max <= 32 ? ProbeAnswer{} : refused("read a limit back", EPROTO);
}

ProbeAnswer try_close_range(const void*) {
  constexpr unsigned kHigh = 900;
  // An empty range suffices: old kernels (before 5.9) and filters say ENOSYS.
  if (::syscall(SYS_close_range, kHigh, kHigh, 0) < 0) return refused("close_range");
  return {};
}

ProbeAnswer try_clone3(const void*) {
  int pidfd = -1;
  clone_args args{};
  args.flags = CLONE_PIDFD;
  args.pidfd = reinterpret_cast<uint64_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  long pid = ::syscall(SYS_clone3, &args, sizeof args);
  if (pid < 0) return refused("clone3");
  if (pid == 0) ::_exit(0);
  const char* step = "clone3";
  return {wait_for(static_cast<int>(pid), &step), step, 0};
}

ProbeAnswer try_pidfd(const void*) {
  int pidfd = -1;
  // The third argument is the parent's tid, here the pidfd, on x86-64 and arm64 alike.
  long pid = ::syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, nullptr, &pidfd, nullptr, nullptr);
  if (pid < 0) return refused("clone with CLONE_PIDFD");
  if (pid == 0) {
    for (;;) ::pause();
  }
  if (::syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0) < 0) {
    int error = errno;
    ::kill(static_cast<pid_t>(pid), SIGKILL);
    return refused("pidfd_send_signal", error);
  }
  siginfo_t gone{};
  // P_PIDFD, Linux 5.4.
  constexpr auto kByPidfd = static_cast<idtype_t>(3);
  if (::waitid(kByPidfd, static_cast<id_t>(pidfd), &gone, WEXITED) < 0) {
    return refused("wait by pidfd");
  }
  return {};
}

ProbeAnswer try_sched_idle(const void*) {
  const sched_param none{};
  if (::sched_setscheduler(0, SCHED_IDLE, &none) < 0) return refused("choose SCHED_IDLE");
  return {};
}

// Up, and back to 0 as a cell's pid 1 does before each fork's end.
ProbeAnswer try_oom_score(const void*) {
  int fd = ::open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
  if (fd < 0) return refused("open oom_score_adj");
  char before[16] = {};
  ssize_t length = ::pread(fd, before, sizeof before, 0);
  if (length <= 0) return refused("read oom_score_adj");
  if (::pwrite(fd, "1000", 4, 0) < 0) return refused("raise oom_score_adj");
  if (::pwrite(fd, before, static_cast<size_t>(length), 0) < 0) {
    return refused("take oom_score_adj back");
  }
  return {};
}

ProbeAnswer try_core_scheduling(const void*) {
  if (int error = make_core_cookie()) return refused("make a core-scheduling cookie", error);
  return core_cookie() != 0 ? ProbeAnswer{} : refused("read the cookie back", EPROTO);
}

ProbeAnswer try_confinement(const void* ruleset_fd) {
  // The limits come last, for they would be in the way of the others.
  constexpr ProbeFunction kTrials[] = {try_close_range, try_no_new_privs, try_drop_caps,
                                       try_landlock,    try_notification, try_seccomp,
                                       try_rlimits};
  for (ProbeFunction trial : kTrials) {
    if (ProbeAnswer answer = trial(ruleset_fd); !answer.ok()) return answer;
  }
  return {};
}

}  // namespace sandbox
