// Into the kernel: loading a compiled filter. No libseccomp here, and nothing allocated.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "sandbox/seccomp/seccomp.h"
#include "sandbox/sys/file.h"

// Linux 5.19; absent from older headers.
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

namespace sandbox {

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

sys::Result<void> load_for_process(std::string_view bpf) {
  sock_fprog program = {
      .len = static_cast<unsigned short>(bpf.size() / sizeof(sock_filter)),
      .filter = reinterpret_cast<sock_filter*>(const_cast<char*>(bpf.data())),
  };
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
    return sys::Error::from_errno("load a filter for the whole process");
  return {};
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
