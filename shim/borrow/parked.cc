#include "shim/borrow/parked.h"

#include <sys/syscall.h>

namespace shim::borrow {

// System calls keep all registers but rax, rcx and r11 (syscall(2), x86-64 ABI, A.2.1).
[[gnu::noinline]] void park(const void* vault, char* word, int wake_fd, int parked_fd) {
  register const void* at asm("r12") = vault;
  register char* buffer asm("r14") = word;
  register long wake asm("r13") = wake_fd;
  register long parked asm("r9") = parked_fd;
  asm volatile(
      "10:\n"  // parked: tell pid 1
      "mov %[sys_write], %%eax\n"
      "mov %%r9, %%rdi\n"
      "mov %%r14, %%rsi\n"
      "mov $1, %%edx\n"
      "syscall\n"
      "cmp $1, %%rax\n"
      "jne 90f\n"
      "20:\n"  // wait for pid 1
      "xor %%eax, %%eax\n"
      "mov %%r13, %%rdi\n"
      "mov %%r14, %%rsi\n"
      "mov $1, %%edx\n"
      "syscall\n"
      "cmp $1, %%rax\n"
      "jne 90f\n"
      "lea 128(%%r12), %%r15\n"
      "mov (%%r12), %%rbx\n"
      "30:\n"  // the calls
      "test %%rbx, %%rbx\n"
      "jz 40f\n"
      "mov (%%r15), %%rax\n"
      "mov 8(%%r15), %%rdi\n"
      "mov 16(%%r15), %%rsi\n"
      "mov 24(%%r15), %%rdx\n"
      "syscall\n"
      "cmp 32(%%r15), %%rax\n"
      "jne 90f\n"
      "add $40, %%r15\n"
      "dec %%rbx\n"
      "jmp 30b\n"
      "40:\n"  // the copies
      "mov 8(%%r12), %%rbx\n"
      "41:\n"
      "test %%rbx, %%rbx\n"
      "jz 50f\n"
      "mov (%%r15), %%rdi\n"
      "mov 8(%%r15), %%rsi\n"
      "mov $512, %%ecx\n"
      "rep movsq\n"
      "add $16, %%r15\n"
      "dec %%rbx\n"
      "jmp 41b\n"
      "50:\n"
      "cmpq $0, 16(%%r12)\n"
      "je 10b\n"
      "mov %[sys_clone3], %%eax\n"
      "lea 32(%%r12), %%rdi\n"
      "mov $80, %%esi\n"
      "syscall\n"
      "test %%rax, %%rax\n"
      "jz 99f\n"
      "jns 20b\n"
      "jmp 10b\n"  // no room for a process: parked again
      "90:\n"
      "mov %[sys_exit_group], %%eax\n"
      "mov $1, %%edi\n"
      "syscall\n"
      "hlt\n"
      "99:\n"
      : "+r"(at), "+r"(buffer), "+r"(wake), "+r"(parked)
      :
      [sys_write] "i"(SYS_write), [sys_clone3] "i"(SYS_clone3), [sys_exit_group] "i"(SYS_exit_group)
      : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r11", "r15", "cc", "memory");
}

}  // namespace shim::borrow
