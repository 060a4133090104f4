#pragma once
// Names and numbers of system calls, ours and those of foreign ABIs, through libseccomp. Used by
// the daemon to compile filters and to say what was refused.

#include <cstdint>
#include <string>
#include <string_view>

namespace sandbox {

// Set in the numbers of x32, which are else those of x86-64 (__X32_SYSCALL_BIT).
inline constexpr uint32_t kX32Bit = 0x40000000;

struct CallNumber {
  bool known = false;  // some architecture has a call of this name
  int value = -1;      // negative when this one has not
};
CallNumber call_number(const char* name);

// The architecture zygo is built for, as AUDIT_ARCH_*.
uint32_t native_arch();
bool is_native(uint32_t arch, int number);

// "openat"; "i386 socketcall" or "x32 call 9999" for a foreign ABI; "call 9999" without a name.
std::string name_of_call(uint32_t arch, int number);

}  // namespace sandbox
