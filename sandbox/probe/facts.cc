#include "sandbox/probe/facts.h"

#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "sandbox/sys/file.h"

namespace sandbox {

namespace {

constexpr unsigned kVersionQuery = 1;  // landlock_create_ruleset(2)

// The first kernel with a call, for what only its version gives away.
struct Since {
  std::string_view name;
  int major, minor;
};
constexpr Since kSince[] = {
    {"seccomp", 3, 17}, {"seccomp.notify", 5, 0}, {"pidfd", 5, 4},          {"clone3", 5, 3},
    {"fds", 5, 9},      {"landlock", 5, 13},      {"landlock.scope", 6, 12}};

constexpr auto kNamespaceFiles = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"userns", "user"},
    {"userns.unprivileged", "user"},
    {"idmap.range", "user"},
    {"pidns", "pid"},
    {"mntns", "mnt"},
    {"netns", "net"},
    {"ipcns", "ipc"},
    {"utsns", "uts"},
    {"cgroupns", "cgroup"},
});

// Every Linux on which zygo can start has these.
constexpr std::string_view kAlways[] = {"uid",     "chroot",     "caps",       "nnp",
                                        "scratch", "rlimits",    "cpu policy", "oom_score_adj",
                                        "proc",    "ptrace.read"};

bool has_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    size_t end = at + word.size();
    bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '\n';
    bool ends = end == text.size() || text[end] == ' ' || text[end] == '\n' || text[end] == '\t';
    if (begins && ends) return true;
  }
  return false;
}

std::optional<bool> by_version(std::string_view name, const KernelFacts& facts) {
  for (const Since& since : kSince) {
    if (since.name != name) continue;
    if (facts.major == 0) return std::nullopt;
    if (facts.major != since.major) return facts.major > since.major;
    return facts.minor >= since.minor;
  }
  return std::nullopt;
}

std::optional<bool> has_landlock(std::string_view name, const KernelFacts& facts) {
  if (facts.landlock_abi) return *facts.landlock_abi >= (name == "landlock.scope" ? 6 : 1);
  if (facts.landlock_error == EOPNOTSUPP) return false;  // built, but not switched on at boot
  if (facts.landlock_error == ENOSYS && !facts.filtered) return false;
  return std::nullopt;  // a filter may hide it
}

// A line is "memory\t3\t42\t1": name, hierarchy, groups, enabled.
std::optional<bool> has_controller(std::string_view name, const KernelFacts& facts) {
  if (facts.controllers.empty()) return std::nullopt;
  const std::string wanted = "\n" + std::string(name.substr(name.find('.') + 1)) + "\t";
  size_t at = facts.controllers.find(wanted);
  if (at == std::string::npos) return false;
  std::string_view line = std::string_view(facts.controllers).substr(at + 1);
  return line.substr(0, line.find('\n')).ends_with("\t1");
}

}  // namespace

KernelFacts facts_of_kernel() {
  KernelFacts facts;
  std::error_code problem;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/ns", problem)) {
    facts.namespaces += each.path().filename().string() + " ";
  }
  long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, size_t{0}, kVersionQuery);
  if (abi >= 0) {
    facts.landlock_abi = static_cast<int>(abi);
  } else {
    facts.landlock_error = errno;
  }
  if (auto text = sys::read_file("/proc/sys/kernel/seccomp/actions_avail")) {
    facts.seccomp_actions = *text;
  }
  if (auto text = sys::read_file("/proc/cgroups")) facts.controllers = *text;
  utsname names{};
  if (::uname(&names) == 0) {
    (void)std::sscanf(names.release, "%d.%d", &facts.major, &facts.minor);
  }
  auto status = sys::read_file("/proc/self/status");
  facts.filtered = status && status->find("\nSeccomp:\t2") != std::string::npos;
  return facts;
}

std::optional<bool> kernel_has(std::string_view name, int error, const KernelFacts& facts) {
  for (std::string_view each : kAlways) {
    if (each == name) return true;
  }
  for (const auto& [layer, file] : kNamespaceFiles) {
    if (layer != name) continue;
    if (facts.namespaces.empty()) return std::nullopt;
    return has_word(facts.namespaces, file);
  }
  if (name.starts_with("cgroup.")) return has_controller(name, facts);
  if (name.starts_with("landlock")) return has_landlock(name, facts);
  if (name == "seccomp.notify" && !facts.seccomp_actions.empty()) {
    return has_word(facts.seccomp_actions, "user_notif");
  }
  if (name == "seccomp" && !facts.seccomp_actions.empty()) return true;
  // prctl(2) knows no option of what was not built.
  if (name == "core scheduling" && (error == 0 || error == ENODEV)) return true;
  if (name == "core scheduling" && error == EINVAL) return false;
  // Nobody answered for the kernel: then ENOSYS is its own word.
  if (error == ENOSYS && !facts.filtered) return false;
  return by_version(name, facts);
}

}  // namespace sandbox
