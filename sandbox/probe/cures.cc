#include "sandbox/probe/cures.h"

#include <array>
#include <cerrno>
#include <utility>

namespace sandbox {

namespace {

// One wish, in the language of each place. A rootless engine is asked by the same options.
struct Wish {
  std::string_view host, service, container, kubernetes;
};

std::string granted(const Wish& wish, const HostHints& hints) {
  switch (hints.at.place) {
    case Place::kHost:
      return std::string(wish.host);
    case Place::kService:
      return std::string(wish.service);
    case Place::kContainer:
      return (hints.at.engine == "podman" ? "podman run " : "docker run ") +
             std::string(wish.container);
    case Place::kKubernetes:
      return "pod spec: " + std::string(wish.kubernetes);
  }
  return {};
}

constexpr Wish kNamespaces = {
    .host = "run as root, or allow user namespaces: sysctl -w user.max_user_namespaces=15000",
    .service =
        "in the unit: RestrictNamespaces=no, and no SystemCallFilter= that denies unshare, "
        "mount or pivot_root",
    .container =
        "--security-opt seccomp=unconfined --cap-add SYS_ADMIN --security-opt "
        "systempaths=unconfined ... (or --privileged; on AppArmor hosts also "
        "--security-opt apparmor=unconfined)",
    .kubernetes =
        "securityContext: {seccompProfile: {type: Unconfined}, capabilities: {add: "
        "[SYS_ADMIN]}}, or {privileged: true}"};

constexpr Wish kCgroups = {
    .host =
        "start zygo alone in a group of its own that it may write to: systemd-run --scope -p "
        "Delegate=yes zygo ...",
    .service = "in the unit: Delegate=yes",
    .container =
        "--privileged ... (or, with cgroup v2, --cgroupns=host -v "
        "/sys/fs/cgroup:/sys/fs/cgroup:rw)",
    .kubernetes = "securityContext: {privileged: true}; a pod's cgroups are read-only otherwise"};

constexpr Wish kProc = {
    .host = "unmount what lies over parts of /proc: findmnt --submounts /proc",
    .service = "in the unit: ProtectKernelTunables=no, ProtectProc=default, ProcSubset=all",
    .container = "--security-opt systempaths=unconfined ...",
    .kubernetes = "hostUsers: false, and securityContext: {procMount: Unmasked}"};

constexpr Wish kFilters = {.host = "use a newer kernel",
                           .service = "in the unit: no SystemCallFilter= that denies it",
                           .container = "--security-opt seccomp=unconfined ...",
                           .kubernetes = "securityContext: {seccompProfile: {type: Unconfined}}"};

// unshare(1) of util-linux 2.38 and newuidmap(1) of the package uidmap.
constexpr std::string_view kRootOrOwnIds =
    "run as root; or, with ids of your own in /etc/subuid and /etc/subgid: unshare --map-root-user "
    "--map-auto zygo ...";

constexpr Wish kOtherUids = {
    .host = kRootOrOwnIds,
    .service =
        "in the unit: User=root, and CapabilityBoundingSet= with CAP_SETUID CAP_SETGID "
        "CAP_KILL",
    .container = "--user 0 --cap-add SETUID --cap-add SETGID --cap-add KILL ...",
    .kubernetes =
        "securityContext: {runAsUser: 0, runAsNonRoot: false, capabilities: {add: "
        "[SETUID, SETGID, KILL]}}"};

constexpr Wish kChroot = {
    .host = "run as root",
    .service = "in the unit: User=root, and CapabilityBoundingSet= with CAP_SYS_CHROOT",
    .container = "--user 0 --cap-add SYS_CHROOT ...",
    .kubernetes = "securityContext: {runAsUser: 0, capabilities: {add: [SYS_CHROOT]}}"};

// A map of many ids needs CAP_SYS_ADMIN over the user namespace it is made in.
constexpr Wish kIdRanges = {.host = kRootOrOwnIds,
                            .service = kNamespaces.service,
                            .container = kNamespaces.container,
                            .kubernetes = kNamespaces.kubernetes};

std::string cure_for_user_namespaces(int error, const HostHints& hints) {
  if (error == EINVAL) return "use a kernel built with CONFIG_USER_NS";
  if (hints.unprivileged_userns_clone == 0) return "sysctl -w kernel.unprivileged_userns_clone=1";
  if (hints.max_user_namespaces == 0 || error == ENOSPC || error == EUSERS) {
    return "sysctl -w user.max_user_namespaces=15000";
  }
  if (!hints.at.filtered && hints.apparmor_restricts_userns.value_or(0) != 0) {
    return "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or give zygo an AppArmor "
           "profile that allows userns";
  }
  const bool is_host_root = hints.at.place == Place::kHost && hints.at.root && !hints.at.filtered;
  if (error == EPERM && is_host_root && !hints.at.rootless) {
    return "leave the chroot: the kernel makes no user namespace in one (user_namespaces(7)); "
           "bwrap "
           "or systemd-nspawn show the same files without it";
  }
  return granted(kNamespaces, hints);
}

std::string cure_for_cgroups(const HostHints& hints) {
  bool plain = hints.at.place == Place::kHost || hints.at.place == Place::kService;
  if (!hints.at.root && plain) {
    return "on cgroup v2: systemd-run --user --scope -p Delegate=yes zygo ...; on cgroup v1: run "
           "as root";
  }
  return granted(kCgroups, hints);
}

constexpr auto kOfTheKernel = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"landlock",
     "boot a kernel 5.13 or later, built with CONFIG_SECURITY_LANDLOCK, with landlock "
     "in its list: lsm=landlock,..."},
    {"landlock.scope", "use Linux 6.12 or later with Landlock enabled"},
    {"seccomp.notify",
     "use Linux 5.0 or later; a process under another seccomp listener cannot "
     "have its own: start zygo outside of that supervisor"},
    {"pidfd", "use Linux 5.4 or later"},
    {"fds", "use Linux 5.9 or later, or a container engine whose filter knows close_range"},
    {"core scheduling", "use Linux 5.14 or later, built with CONFIG_SCHED_CORE"},
    {"oom_score_adj", "mount /proc so that /proc/self/oom_score_adj can be written"},
    {"ptrace.read",
     "let zygo read its jobs: sysctl -w kernel.yama.ptrace_scope=1 (or 0), and a filter that "
     "allows process_vm_readv"},
});

constexpr auto kOfThePlace = std::to_array<std::pair<std::string_view, Wish>>({
    {"proc", kProc},
    {"uid", kOtherUids},
    {"chroot", kChroot},
    {"idmap.range", kIdRanges},
    {"seccomp", kFilters},
});

bool built_on_user_namespaces(std::string_view name) {
  return name.starts_with("userns") || name == "scratch" ||
         (name.ends_with("ns") && name.size() <= 8);
}

// A shortage for now says nothing of the kernel; see clone(2), unshare(2), mmap(2).
std::string_view cure_for_shortage(int error) {
  if (error == EAGAIN)
    return "a shortage: allow zygo more processes (ulimit -u, or pids.max of its control group)";
  if (error == ENOMEM)
    return "a shortage: allow zygo more memory (its control group's limit), or free some";
  return {};
}

}  // namespace

std::string cure_for(std::string_view name, int error, const HostHints& hints) {
  if (const std::string_view shortage = cure_for_shortage(error); !shortage.empty())
    return std::string(shortage);
  if (name.starts_with("cgroup.")) return cure_for_cgroups(hints);
  if (built_on_user_namespaces(name)) return cure_for_user_namespaces(error, hints);
  // A call that a filter hides looks as if the kernel did not have it.
  if (name.starts_with("landlock") && error == EPERM && hints.at.filtered) {
    return granted(kFilters, hints);
  }
  if (name == "clone3" && error == ENOSYS && hints.at.filtered) {
    return granted(kFilters, hints) + " (or leave it: zygo then forks by clone)";
  }
  if (name == "core scheduling" && error == ENODEV)
    return "nothing: no two hardware threads share a core here";
  for (const auto& [what, cure] : kOfTheKernel) {
    if (what == name) return std::string(cure);
  }
  for (const auto& [what, wish] : kOfThePlace) {
    if (what == name) return granted(wish, hints);
  }
  return hints.at.filtered ? granted(kFilters, hints) : "use a newer kernel";
}

}  // namespace sandbox
