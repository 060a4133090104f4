#include "sandbox/seccomp.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <vector>

#include "sandbox/profiles.h"
#include "sandbox/sys/file.h"
#include "sandbox/syscall_names.h"

// Linux 5.19; absent from older headers.
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

namespace sandbox {
namespace {

struct ReleaseFilter {
  void operator()(void* context) const { seccomp_release(context); }
};
using FilterContext = std::unique_ptr<void, ReleaseFilter>;

// libseccomp answers with -errno.
sys::Result<void> checked(int code, std::string_view what) {
  if (code < 0) return sys::Error::from_errno(what, -code);
  return {};
}

uint32_t libseccomp_action(const RuleGroup& group) {
  switch (group.treatment) {
    case Treatment::kAllow:
      return SCMP_ACT_ALLOW;
    case Treatment::kQuiet:
      return SCMP_ACT_ERRNO(static_cast<uint32_t>(group.error));
    case Treatment::kNotify:
      return SCMP_ACT_NOTIFY;
  }
  return SCMP_ACT_NOTIFY;
}

sys::Result<void> add_rule(void* context, const RuleGroup& group, const Rule& rule) {
  CallNumber number = call_number(rule.call);
  if (number.known && number.value < 0) return {};  // another architecture has it
  if (!number.known) return sys::Error::because(std::string("no such system call: ") + rule.call);
  std::vector<scmp_arg_cmp> when;
  for (const Condition& c : std::span(rule.when).first(rule.conditions)) {
    when.push_back({.arg = c.arg, .op = SCMP_CMP_MASKED_EQ, .datum_a = c.mask, .datum_b = c.value});
  }
  return checked(seccomp_rule_add_array(context, libseccomp_action(group), number.value,
                                        static_cast<unsigned>(when.size()), when.data()),
                 std::string("filter rule for ") + rule.call);
}

sys::Result<void> add_group(void* context, const RuleGroup& group) {
  if (group.treatment == Treatment::kNotify) return {};  // the default
  for (const Rule& rule : group.rules) TRY(add_rule(context, group, rule));
  return {};
}

}  // namespace

sys::Result<std::string> compile_filter(Profile profile) {
  FilterContext context(seccomp_init(SCMP_ACT_NOTIFY));
  if (!context) return sys::Error::because("seccomp_init failed");
  // i386 and x32 calls are named and refused like everything else that is not on the list.
  TRY(checked(seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_NOTIFY),
              "notify foreign ABIs"));
  // A binary tree: the kernel walks the filter for every call number when it is loaded.
  TRY(checked(seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2),
              "order filter as a tree"));
  for (RuleLayer layer : layers_of(profile)) {
    for (const RuleGroup& group : layer) TRY(add_group(context.get(), group));
  }
  sys::OwnedFd file = TRY(sys::memfd("seccomp-filter", 0));
  TRY(checked(seccomp_export_bpf(context.get(), file.get()), "export filter"));
  if (::lseek(file.get(), 0, SEEK_SET) < 0) return sys::Error::from_errno("rewind filter");
  return sys::read_all(file.get());
}

int load_filter_raw(std::span<const std::byte> bpf) {
  if (bpf.size() % sizeof(sock_filter) != 0 || bpf.size() / sizeof(sock_filter) > BPF_MAXINSNS) {
    return -EINVAL;
  }
  sock_fprog program = {
      .len = static_cast<unsigned short>(bpf.size() / sizeof(sock_filter)),
      // The kernel copies from it; alignment and constness do not matter.
      .filter = reinterpret_cast<sock_filter*>(const_cast<std::byte*>(bpf.data())),
  };
  // Without SPEC_ALLOW: where an administrator asked for speculation barriers around filtered
  // processes, jobs of strangers that take turns on one core are what they are for.
  // WAIT_KILLABLE_RECV: a signal must not restart a call that the daemon is already ruling on.
  unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
  long fd = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  if (fd < 0 && errno == EINVAL) {  // before 5.19
    fd =
        ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  }
  return fd < 0 ? -errno : static_cast<int>(fd);
}

sys::Result<sys::OwnedFd> load_filter(std::span<const std::byte> bpf) {
  int fd = load_filter_raw(bpf);
  if (fd < 0) return sys::Error::from_errno("load seccomp filter", -fd);
  return sys::OwnedFd(fd);
}

namespace {

// Runs in the probe's child, which shares our descriptors: the listener lands in `slot`.
[[noreturn]] void leave_listener_at(int slot) {
  sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) ::_exit(1);
  int listener = load_filter_raw(std::as_bytes(std::span(allow)));
  if (listener < 0) ::_exit(1);
  bool moved = ::dup3(listener, slot, O_CLOEXEC) == slot;
  sys::OwnedFd(listener).reset();
  ::_exit(moved ? 0 : 1);
}

}  // namespace

bool seccomp_notify_supported() {
  sys::Result<sys::OwnedFd> slot = sys::open("/dev/null", O_RDONLY);
  if (!slot) return false;
  long child = ::syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) leave_listener_at(slot->get());
  if (child < 0) return false;
  int status = 0;
  while (::waitpid(static_cast<pid_t>(child), &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return false;
  // The kernel checks the flag before it looks for the notification, which does not exist.
  seccomp_notif_resp response = {
      .id = 1, .val = 0, .error = 0, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
  return ::ioctl(slot->get(), SECCOMP_IOCTL_NOTIF_SEND, &response) < 0 && errno == ENOENT;
}

}  // namespace sandbox
