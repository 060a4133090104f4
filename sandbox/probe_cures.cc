#include "sandbox/probe_cures.h"

#include <array>
#include <cerrno>
#include <utility>

namespace sandbox {

namespace {

constexpr std::string_view kPrivileged =
    "run the container with --privileged, or with --cap-add SYS_ADMIN --security-opt "
    "seccomp=unconfined --security-opt systempaths=unconfined";

std::string cure_for_user_namespaces(int error, const HostHints& hints) {
  if (hints.unprivileged_userns_clone == 0) return "sysctl -w kernel.unprivileged_userns_clone=1";
  if (hints.max_user_namespaces == 0 || error == ENOSPC || error == EUSERS) {
    return "sysctl -w user.max_user_namespaces=15000";
  }
  if (hints.apparmor_restricts_userns.value_or(0) != 0) {
    return "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or give zygo an AppArmor "
           "profile that allows userns";
  }
  if (hints.filtered) return std::string(kPrivileged);
  if (error == EINVAL) return "use a kernel built with CONFIG_USER_NS";
  return hints.root ? std::string(kPrivileged) : "run as root, or allow user namespaces";
}

std::string cure_for_cgroups(const HostHints& hints) {
  if (hints.root) {
    return "start zygo alone in a group that it may write to: systemd-run --scope -p Delegate=yes "
           "zygo ...; in a container --privileged, or a writable /sys/fs/cgroup of its own "
           "(--cgroupns=private)";
  }
  return "on cgroup v2: systemd-run --user --scope -p Delegate=yes zygo ...; on cgroup v1: run as "
         "root";
}

constexpr auto kCures = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"landlock",
     "boot a kernel 5.13 or later, built with CONFIG_SECURITY_LANDLOCK, with landlock "
     "in its list: lsm=landlock,..."},
    {"seccomp",
     "use a kernel built with CONFIG_SECCOMP_FILTER; under gVisor or a filter that "
     "refuses seccomp(2), run zygo outside of it"},
    {"seccomp.notify",
     "use Linux 5.0 or later; a process under another seccomp listener cannot "
     "have its own: start zygo outside of that supervisor"},
    {"proc",
     "run the container with --security-opt systempaths=unconfined; otherwise cells get no "
     "/proc"},
    {"pidfd", "use Linux 5.4 or later"},
    {"fds", "use Linux 5.9 or later, or a container engine whose filter knows close_range"},
    {"oom_score_adj", "mount /proc so that /proc/self/oom_score_adj can be written"},
    {"chroot", "run with CAP_SYS_CHROOT (a container's root has it unless --cap-drop removed it)"},
    {"uid", "run as root (in a container: without --user, and without --cap-drop SETUID,SETGID)"},
    {"idmap.range",
     "run as root: an ordinary user can map one id, so that a job and its keeper "
     "share it"},
});

bool built_on_user_namespaces(std::string_view name) {
  return name.starts_with("userns") || name == "scratch" ||
         (name.ends_with("ns") && name.size() <= 8);
}

}  // namespace

std::string cure_for(std::string_view name, int error, const HostHints& hints) {
  if (name.starts_with("cgroup.")) return cure_for_cgroups(hints);
  if (built_on_user_namespaces(name)) return cure_for_user_namespaces(error, hints);
  if (name == "clone3" && error == ENOSYS && hints.filtered) {
    return "use a container engine whose filter knows clone3, or --security-opt "
           "seccomp=unconfined; zygo then forks by clone";
  }
  for (const auto& [what, cure] : kCures) {
    if (what == name) return std::string(cure);
  }
  return hints.filtered ? "run the container with --security-opt seccomp=unconfined"
                        : "use a newer kernel";
}

}  // namespace sandbox
