#include "sandbox/seccomp/mask.h"

#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <bit>
#include <cstddef>
#include <cstring>
#include <vector>

#include "sandbox/seccomp/report.h"
#include "sandbox/seccomp/syscall_names.h"

namespace sandbox {
namespace {

using Program = std::vector<sock_filter>;

// All that legacy clone can ask for; CLONE_NEWTIME lies in its signal byte.
constexpr uint32_t kNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                 CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

constexpr uint32_t kTrap = SECCOMP_RET_TRAP | kTrapMark;

sock_filter load(size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset));
}
sock_filter end(uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }
// Goes on behind the next instruction unless the accumulator is `value`, or has some of `bits`.
sock_filter skip_unless_equal(uint32_t value) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
}
sock_filter skip_if_equal(uint32_t value) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
}
sock_filter skip_if_less(uint32_t value) {
  return BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, value, 0, 1);
}
sock_filter skip_unless_any(uint32_t bits) {
  return BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
}

// The offset at which the lower half of an argument lies.
constexpr size_t kLowHalf = std::endian::native == std::endian::big ? 4 : 0;

// A call that was to be notified is trapped instead, if it is one of the masked.
Program notify_or_trap(const FilterVariant& variant) {
  Program out = {load(offsetof(seccomp_data, arch)), skip_if_equal(native_arch()),
                 end(SECCOMP_RET_USER_NOTIF), load(offsetof(seccomp_data, nr))};
  for (int number : variant.masked) {
    if (number == kTrapReportCall) continue;  // the handler would trap in its own report
    if (number == kBeyondAllCalls) {
      // Calls of x32 have a bit beyond, and are notified as all foreign ones are.
      out.push_back(skip_if_less(kX32Bit));
      out.push_back(end(SECCOMP_RET_USER_NOTIF));
      out.push_back(skip_if_less(kBeyondAllCalls));
      out.push_back(end(kTrap));
      continue;
    }
    out.push_back(skip_unless_equal(static_cast<uint32_t>(number)));
    out.push_back(end(kTrap));
  }
  if (variant.masked_clone_flags) {
    out.push_back(skip_if_equal(SYS_clone));
    out.push_back(end(SECCOMP_RET_USER_NOTIF));
    out.push_back(load(offsetof(seccomp_data, args) + kLowHalf));
    out.push_back(skip_unless_any(kNamespaces));
    out.push_back(end(kTrap));
  }
  out.push_back(end(SECCOMP_RET_USER_NOTIF));
  return out;
}

}  // namespace

sys::Result<std::string> trap_masked(std::string filter, const FilterVariant& variant) {
  if (variant.masked.empty() && !variant.masked_clone_flags) return filter;
  Program program(filter.size() / sizeof(sock_filter));
  std::memcpy(program.data(), filter.data(), filter.size());
  // Appended behind; jumps are relative and go forward only, so nothing before it moves.
  for (size_t i = 0; i < program.size(); ++i) {
    if (program[i].code != (BPF_RET | BPF_K) || program[i].k != SECCOMP_RET_USER_NOTIF) continue;
    auto distance = static_cast<uint32_t>(program.size() - i - 1);
    program[i] = BPF_STMT(BPF_JMP | BPF_JA, distance);
  }
  Program tail = notify_or_trap(variant);
  program.insert(program.end(), tail.begin(), tail.end());
  if (program.size() > BPF_MAXINSNS) {
    return sys::Error::because("filter with " + std::to_string(variant.masked.size()) +
                               " masked calls: longer than the kernel takes");
  }
  return std::string(reinterpret_cast<const char*>(program.data()),
                     program.size() * sizeof(sock_filter));
}

}  // namespace sandbox
