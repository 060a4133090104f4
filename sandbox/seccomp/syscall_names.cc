#include "sandbox/seccomp/syscall_names.h"

#include <linux/audit.h>
#include <seccomp.h>

#include <cstdlib>
#include <cstring>
#include <memory>

namespace sandbox {
namespace {

// Calls younger than some libseccomp. From 424 on the numbers are the same everywhere.
struct YoungCall {
  const char* name;
  int number;
};
constexpr YoungCall kYoungCalls[] = {
    {"set_mempolicy_home_node", 450},
    {"cachestat", 451},
    {"fchmodat2", 452},
    {"map_shadow_stack", 453},
    {"futex_wake", 454},
    {"futex_wait", 455},
    {"futex_requeue", 456},
    {"statmount", 457},
    {"listmount", 458},
    {"lsm_get_self_attr", 459},
    {"lsm_set_self_attr", 460},
    {"lsm_list_modules", 461},
    {"mseal", 462},
    {"setxattrat", 463},
    {"getxattrat", 464},
    {"listxattrat", 465},
    {"removexattrat", 466},
    {"open_tree_attr", 467},
    {"file_getattr", 468},
    {"file_setattr", 469},
};

struct Abi {
  const char* prefix;  // empty for our own
  uint32_t libseccomp_arch;
};

Abi abi_of(uint32_t arch, int number) {
  if (arch == AUDIT_ARCH_X86_64 && (static_cast<uint32_t>(number) & kX32Bit) != 0 && number > 0) {
    return {"x32 ", SCMP_ARCH_X32};
  }
  if (arch == native_arch()) return {"", arch};
  switch (arch) {
    case AUDIT_ARCH_I386:
      return {"i386 ", SCMP_ARCH_X86};
    case AUDIT_ARCH_ARM:
      return {"arm ", SCMP_ARCH_ARM};
    case AUDIT_ARCH_X86_64:
      return {"x86_64 ", SCMP_ARCH_X86_64};
    case AUDIT_ARCH_AARCH64:
      return {"aarch64 ", SCMP_ARCH_AARCH64};
    default:
      return {"foreign ", 0};
  }
}

}  // namespace

CallNumber call_number(const char* name) {
  int number = seccomp_syscall_resolve_name(name);
  if (number != __NR_SCMP_ERROR) return {true, number};
  for (const YoungCall& young : kYoungCalls) {
    if (std::strcmp(young.name, name) == 0) return {true, young.number};
  }
  return {};
}

uint32_t native_arch() { return seccomp_arch_native(); }

bool is_native(uint32_t arch, int number) { return *abi_of(arch, number).prefix == '\0'; }

std::string name_of_call(uint32_t arch, int number) {
  Abi abi = abi_of(arch, number);
  std::string name = abi.prefix;
  std::unique_ptr<char, decltype(&std::free)> resolved(
      abi.libseccomp_arch != 0 && number >= 0
          ? seccomp_syscall_resolve_num_arch(abi.libseccomp_arch, number)
          : nullptr,
      &std::free);
  if (resolved) return name + resolved.get();
  for (const YoungCall& young : kYoungCalls) {
    if (young.number == number) return name + young.name;
  }
  return name + "call " + std::to_string(number);
}

}  // namespace sandbox
