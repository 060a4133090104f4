#include "sandbox/probe/filter.h"

#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>

#include "sandbox/notify/notify.h"
#include "sandbox/seccomp/profiles.h"
#include "sandbox/seccomp/seccomp.h"
#include "sandbox/sys/file.h"
#include "sandbox/sys/socket.h"
#include "sandbox/sys/spawn.h"
#include "sandbox/sys/units.h"

namespace sandbox {
namespace {

constexpr sys::Nanoseconds kPatience = std::chrono::seconds(3);
constexpr uint64_t kNone = ~uint64_t{0};  // no descriptor, no address, no process

struct Attempt {
  int number;
  uint64_t args[6] = {kNone, kNone, kNone, kNone, kNone, kNone};
};

// The progress of the child, as the parent sees it. It is a page of its own, shared by both.
class Progress {
 public:
  Progress()
      : page_(::mmap(nullptr, sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                     -1, 0)) {}
  ~Progress() {
    if (ok()) ::munmap(page_, sizeof(uint32_t));
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  bool ok() const { return page_ != MAP_FAILED; }
  volatile uint32_t& at() { return *static_cast<volatile uint32_t*>(page_); }

 private:
  void* page_;
};

// ---- the child ---------------------------------------------------------------------------------

int notify_all_but_the_needed() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmsg, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  return load_filter_raw(std::as_bytes(std::span(program)));
}

// Allocates nothing: another thread of the parent may have held the allocator's lock.
[[noreturn]] void attempt_all(std::span<const Attempt> attempts, size_t first, Progress& progress,
                              int socket) {
  // A filter around us may kill or trap: that is an answer too, and no reason for a core.
  ::signal(SIGSYS, SIG_DFL);
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) ::_exit(1);
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) ::_exit(1);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) ::_exit(1);
  int listener = notify_all_but_the_needed();
  if (listener < 0) ::_exit(1);
  if (!sys::send_message(socket, sys::bytes_of(listener), std::span(&listener, 1))) ::_exit(1);
  for (size_t i = first; i < attempts.size(); ++i) {
    const Attempt& a = attempts[i];
    progress.at() = static_cast<uint32_t>(i);
    ::syscall(a.number, a.args[0], a.args[1], a.args[2], a.args[3], a.args[4], a.args[5]);
  }
  // Not the library's: a sanitizer would have something to do first, and cannot do it here.
  for (;;) ::syscall(SYS_exit_group, 0);
}

// ---- the parent --------------------------------------------------------------------------------

// False when time is up.
bool wait_for_either(int listener, int pidfd, sys::Nanoseconds deadline) {
  for (;;) {
    auto left = std::chrono::ceil<sys::Milliseconds>(deadline - sys::monotonic_now()).count();
    if (left <= 0) return false;
    pollfd watched[] = {{.fd = listener, .events = POLLIN, .revents = 0},
                        {.fd = pidfd, .events = POLLIN, .revents = 0}};
    if (::poll(watched, 2, static_cast<int>(left)) > 0) return true;
  }
}

// Answers until the child has ended. Its status, or nothing when time is up.
std::optional<int> hear_out(int listener, sys::Child& child, Progress& progress,
                            std::vector<bool>* heard, sys::Nanoseconds deadline) {
  for (;;) {
    if (!wait_for_either(listener, child.pidfd(), deadline)) return std::nullopt;
    auto notice = receive_notice(listener);
    if (notice.ok() && !*notice) {
      // Nothing waits: it was the child's end, or a wake-up left behind.
      pollfd ended = {.fd = child.pidfd(), .events = POLLIN, .revents = 0};
      if (::poll(&ended, 1, 0) <= 0) continue;
    } else if (notice.ok()) {
      heard->at(progress.at()) = true;
      if (!answer(listener, **notice, fail_quietly(ENOSYS))) return std::nullopt;
      continue;
    }
    sys::Result<int> status = child.wait();
    return status.ok() ? std::optional(*status) : std::nullopt;
  }
}

// One child, from attempt `first` on. Its status, or nothing when the trial could not be made.
std::optional<int> one_child(const std::vector<Attempt>& attempts, size_t first, Progress& progress,
                             std::vector<bool>* heard, sys::Nanoseconds deadline) {
  auto sockets = sys::seqpacket_pair();
  if (!sockets) return std::nullopt;
  // Not the library's fork: its handlers may start threads (sanitizers do).
  long pid = ::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) attempt_all(attempts, first, progress, sockets->theirs.get());
  if (pid < 0) return std::nullopt;
  // Its end cannot be reaped by anybody but us, so the number is still its own.
  sys::OwnedFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  sockets->theirs.reset();
  if (!pidfd) {
    ::kill(static_cast<pid_t>(pid), SIGKILL);
    while (::waitpid(static_cast<pid_t>(pid), nullptr, 0) < 0 && errno == EINTR) {
    }
    return std::nullopt;
  }
  sys::Child child(std::move(pidfd));
  // The child writes at once, or its end is seen: an outer supervisor could make it wait.
  pollfd watched = {.fd = sockets->ours.get(), .events = POLLIN, .revents = 0};
  const auto left = std::chrono::ceil<sys::Milliseconds>(deadline - sys::monotonic_now()).count();
  if (::poll(&watched, 1, std::max(0, static_cast<int>(left))) <= 0) return std::nullopt;
  int number = 0;
  auto message = sys::receive_message(sockets->ours.get(), sys::writable_bytes_of(number));
  if (!message || message->fds.size() != 1) return std::nullopt;
  return hear_out(message->fds[0].get(), child, progress, heard, deadline);
}

// The attempts of which no notification was heard; nothing if the trial failed.
std::optional<std::vector<bool>> unheard(const std::vector<Attempt>& attempts) {
  Progress progress;
  if (!progress.ok()) return std::nullopt;
  const sys::Nanoseconds deadline = sys::monotonic_now() + kPatience;
  std::vector<bool> heard(attempts.size(), false);
  for (size_t first = 0; first < attempts.size(); first = progress.at() + 1) {
    progress.at() = static_cast<uint32_t>(first);
    std::optional<int> status = one_child(attempts, first, progress, &heard, deadline);
    if (!status) return std::nullopt;
    if (*status == 0) break;
    if (*status < 128) return std::nullopt;
    // The next child begins behind the call that ended this one. SIGSYS: the filter around us kills
    // or traps. Anything else is the call's own doing, past every filter.
    if (*status != 128 + SIGSYS) heard[progress.at()] = true;
  }
  heard.flip();
  return heard;
}

bool filtered() {
  sys::Result<std::string> status = sys::read_file("/proc/self/status");
  return status.ok() && status->find("\nSeccomp:\t2\n") != std::string::npos;
}

// uretprobe and uprobe of x86-64: the kernel lets both past every filter (the tracer put them into
// the program), and refuses them by itself outside its trampolines.
bool past_every_filter([[maybe_unused]] int number) {
#ifdef __x86_64__
  return number == 335 || number == 336;
#else
  return false;
#endif
}

// Tells whether every profile and variant settles the call, whatever its arguments.
bool always_settled(const RuleGroups& purest, int number) {
  return std::ranges::any_of(purest, [&](const RuleGroup& group) {
    return group.treatment != Treatment::kNotify && group.circumstances.empty() &&
           std::ranges::any_of(group.rules, [&](const Rule& rule) {
             return rule.number == number && rule.when.empty();
           });
  });
}

std::vector<Attempt> telling_attempts(const RuleGroups& purest) {
  std::vector<Attempt> attempts;
  for (int number = 0; number <= kBeyondAllCalls; ++number) {
    if (number == SYS_clone || past_every_filter(number)) continue;
    if (always_settled(purest, number)) continue;
    attempts.push_back({number});
  }
  // With all bits set it would ask for namespaces, too: see clone_flags_masked().
  attempts.push_back({SYS_clone, {SIGCHLD, 0, 0, 0, 0, 0}});
  // Engines refuse some families only.
  for (int family : {AF_VSOCK, AF_ALG, AF_NETLINK, AF_PACKET}) {
    attempts.push_back({SYS_socket, {static_cast<uint64_t>(family), SOCK_SEQPACKET, 0, 0, 0, 0}});
  }
  attempts.push_back({SYS_socket, {AF_NETLINK, SOCK_RAW, NETLINK_AUDIT, 0, 0, 0}});
  return attempts;
}

}  // namespace

std::vector<int> masked_calls() {
  const sys::Result<RuleGroups>& purest = rules_of(Profile::kPure);
  if (!filtered() || !purest) return {};
  const std::vector<Attempt> attempts = telling_attempts(*purest);
  std::optional<std::vector<bool>> masked = unheard(attempts);
  std::vector<int> numbers;
  for (size_t i = 0; masked && i < attempts.size(); ++i) {
    if (masked->at(i)) numbers.push_back(attempts[i].number);
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

bool clone_flags_masked() {
  if (!filtered()) return false;
  std::vector<Attempt> attempts = {{SYS_clone, {SIGCHLD, 0, 0, 0, 0, 0}}};
  for (int flag : {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC,
                   CLONE_NEWUTS, CLONE_NEWCGROUP}) {
    attempts.push_back({SYS_clone, {static_cast<uint64_t>(flag | SIGCHLD), 0, 0, 0, 0, 0}});
  }
  std::optional<std::vector<bool>> masked = unheard(attempts);
  return masked && !masked->front() && std::ranges::find(*masked, true) != masked->end();
}

}  // namespace sandbox
