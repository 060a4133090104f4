#include "shim/python/steps/process_state.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>

namespace shim {
namespace {

constexpr int kLastSignal = 64;

// As the kernel has it (arch/x86/include/uapi/asm/signal.h). The C library's own call knows neither
// the two signals that it keeps for itself nor who has set the others.
struct SignalAction {
  uintptr_t handler;
  uint64_t flags;
  uintptr_t restorer;
  uint64_t mask;
};

struct ProcessState {
  SignalAction actions[kLastSignal + 1];
  stack_t stack;
  char name[16];  // prctl(2), PR_SET_NAME
  unsigned long timer_slack;
  uint32_t vector_control;  // of SSE: MXCSR
  uint16_t x87_control;
};
ProcessState noted;

bool can_be_handled(int signal) { return signal != SIGKILL && signal != SIGSTOP; }

long action(int signal, const SignalAction* change, SignalAction* found) {
  return ::syscall(SYS_rt_sigaction, signal, change, found, sizeof change->mask);
}

}  // namespace

void note_process_state() {
  for (int signal = 1; signal <= kLastSignal; ++signal) {
    if (can_be_handled(signal)) action(signal, nullptr, &noted.actions[signal]);
  }
  ::sigaltstack(nullptr, &noted.stack);
  ::prctl(PR_GET_NAME, noted.name);
  noted.timer_slack = static_cast<unsigned long>(::prctl(PR_GET_TIMERSLACK));
  noted.vector_control = __builtin_ia32_stmxcsr();
  __asm__ volatile("fnstcw %0" : "=m"(noted.x87_control));
}

void take_up_process_state() {
  for (int signal = 1; signal <= kLastSignal; ++signal) {
    if (can_be_handled(signal)) action(signal, &noted.actions[signal], nullptr);
  }
  ::sigaltstack(&noted.stack, nullptr);
  ::prctl(PR_SET_NAME, noted.name);
  ::prctl(PR_SET_TIMERSLACK, noted.timer_slack);
  __builtin_ia32_ldmxcsr(noted.vector_control);
  __asm__ volatile("fldcw %0" : : "m"(noted.x87_control));
}

}  // namespace shim
