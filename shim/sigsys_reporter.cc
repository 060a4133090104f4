#include "shim/sigsys_reporter.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "sandbox/seccomp/report.h"

#ifndef SYS_SECCOMP
#define SYS_SECCOMP 1  // si_code of a trap
#endif

namespace shim {

namespace {

// Where the architecture keeps a system call's arguments and its result.
struct CallRegisters {
  uint64_t arguments[6];
  unsigned long long* result;
};

CallRegisters registers_of(void* context) {
  mcontext_t& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  auto at = [&machine](int index) { return static_cast<uint64_t>(machine.gregs[index]); };
  return {{at(REG_RDI), at(REG_RSI), at(REG_RDX), at(REG_R10), at(REG_R8), at(REG_R9)},
          reinterpret_cast<unsigned long long*>(&machine.gregs[REG_RAX])};
#elif defined(__aarch64__)
  const auto& at = machine.regs;
  return {{at[0], at[1], at[2], at[3], at[4], at[5]}, &machine.regs[0]};
#else
#error "which registers carry a system call's arguments here?"
#endif
}

void answer_trap(int, siginfo_t* info, void* context) {
  if (info->si_code != SYS_SECCOMP || info->si_errno != sandbox::kTrapMark) {
    // Not ours: it ends the program as it would have without us.
    ::signal(SIGSYS, SIG_DFL);
    ::raise(SIGSYS);
    return;
  }
  const int kept = errno;
  CallRegisters call = registers_of(context);
  const long answer = sandbox::report_trap(info->si_syscall, call.arguments);
  *call.result = static_cast<unsigned long long>(answer < 0 ? -errno : -EPERM);
  errno = kept;
}

}  // namespace

int report_trapped_calls() {
  struct sigaction action {};
  action.sa_sigaction = answer_trap;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
  return ::sigaction(SIGSYS, &action, nullptr) < 0 ? errno : 0;
}

}  // namespace shim
