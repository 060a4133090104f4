#pragma once
// The features of the kernel, as opposed to those that zygo may use. kernel_has() is pure.

#include <optional>
#include <string>
#include <string_view>

namespace sandbox {

struct KernelFacts {
  std::string namespaces = {};           // names in /proc/self/ns, each followed by a space
  std::optional<int> landlock_abi = {};  // 0: switched off at boot, or not built
  int landlock_error = 0;                // when there is no ABI
  std::string seccomp_actions = {};      // /proc/sys/kernel/seccomp/actions_avail
  std::string controllers = {};          // /proc/cgroups; empty: cannot be read
  int major = 0, minor = 0;              // uname
  bool filtered = false;                 // a filter is on us and may answer for the kernel
};
KernelFacts facts_of_kernel();

// For a report that was refused with `error`.
std::optional<bool> kernel_has(std::string_view name, int error, const KernelFacts& facts);

}  // namespace sandbox
