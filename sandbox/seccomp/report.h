#pragma once
// The report by which a job's SIGSYS handler names a trapped call (FilterVariant::masked). Used by
// the handler in the shim and by rule() in the daemon; allocates nothing, fit for a handler.
//
// The report must be a call that the filter around us lets through, or it would be masked as well:
// an unused number will not do, since the profiles of container engines answer those with ENOSYS or
// EPERM. prctl is allowed by all of them, and its option is 32 bits wide: an option that no kernel
// has, which our profiles notify, and the trapped call's number in the half the kernel never reads.
// A forged report is a violation of the job that forged it.

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace sandbox {

inline constexpr int kTrapReportCall = SYS_prctl;
inline constexpr uint32_t kTrapReportOption = 0x7a79676f;  // "zygo"
// By this option the library of fixed mode says that a child is not fixed (shim/fixed/programs.h).
// A forged word adds to the result of the job that forged it; in other jobs it is a violation.
inline constexpr uint32_t kNotFixedOption = 0x7a79676e;
// SECCOMP_RET_DATA of our traps: si_errno of the signal. Another filter's traps have another one.
inline constexpr uint16_t kTrapMark = 0x7a67;

// -1, and in errno what the trapped call is to return. `args` are its six arguments; the last one
// has no room, and no call that we refuse has anything to say there.
inline long report_trap(int number, const uint64_t (&args)[6]) {
  const uint64_t option = uint64_t{static_cast<uint32_t>(number)} << 32 | kTrapReportOption;
  return ::syscall(kTrapReportCall, option, args[0], args[1], args[2], args[3], args[4]);
}

}  // namespace sandbox
