#include "shim/borrow/parked.h"

#include <sys/syscall.h>

namespace shim::borrow {

// System calls keep all registers but rax, rcx and r11 (syscall(2), x86-64 ABI, A.2.1). A job has
// the holder's registers, so nothing that was read of another job's memory stays in one.
[[gnu::noinline]] void park(const void* vault, Desk* desk, int wake_fd, int parked_fd) {
  register const void* at asm("r12") = vault;
  register Desk* buffer asm("r14") = desk;
  register long wake asm("r13") = wake_fd;
  register long parked asm("r9") = parked_fd;
  asm volatile(
      "xor %%r10d, %%r10d\n"
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
      "mov $64, %%ecx\n"
      "42:\n"  // 64 bytes at a time, as long as they are equal
      "movdqa (%%rdi), %%xmm0\n"
      "movdqa 16(%%rdi), %%xmm1\n"
      "movdqa 32(%%rdi), %%xmm2\n"
      "movdqa 48(%%rdi), %%xmm3\n"
      "pcmpeqb (%%rsi), %%xmm0\n"
      "pcmpeqb 16(%%rsi), %%xmm1\n"
      "pcmpeqb 32(%%rsi), %%xmm2\n"
      "pcmpeqb 48(%%rsi), %%xmm3\n"
      "pand %%xmm1, %%xmm0\n"
      "pand %%xmm3, %%xmm2\n"
      "pand %%xmm2, %%xmm0\n"
      "pmovmskb %%xmm0, %%eax\n"
      "cmp $0xffff, %%eax\n"
      "jne 43f\n"
      "add $64, %%rdi\n"
      "add $64, %%rsi\n"
      "dec %%ecx\n"
      "jnz 42b\n"
      "add 16(%%r15), %%r10\n"
      "mov -8(%%rdi), %%rax\n"  // the page is the holder's own and present, whatever was done to it
      "mov %%rax, -8(%%rdi)\n"
      "43:\n"  // the rest of a page that has changed
      "shl $3, %%ecx\n"
      "rep movsq\n"
      "add $24, %%r15\n"
      "dec %%rbx\n"
      "jmp 41b\n"
      "50:\n"
      "mov %%r10, 8(%%r14)\n"
      "xor %%r10d, %%r10d\n"
      "pxor %%xmm0, %%xmm0\n"
      "pxor %%xmm1, %%xmm1\n"
      "pxor %%xmm2, %%xmm2\n"
      "pxor %%xmm3, %%xmm3\n"
      "cmpq $1, 16(%%r12)\n"
      "jb 10b\n"
      "ja 60f\n"
      "mov %[sys_clone3], %%eax\n"
      "lea 32(%%r12), %%rdi\n"
      "mov $80, %%esi\n"
      "syscall\n"
      "jmp 61f\n"
      "60:\n"  // the stack stays, and so does the thread's pointer: no flag speaks of either
      "mov %[sys_clone], %%eax\n"
      "mov 24(%%r12), %%rdi\n"
      "xor %%esi, %%esi\n"
      "xor %%edx, %%edx\n"
      "mov 48(%%r12), %%r10\n"
      "xor %%r8d, %%r8d\n"
      "syscall\n"
      "xor %%r10d, %%r10d\n"
      "61:\n"
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
      : [sys_write] "i"(SYS_write), [sys_clone3] "i"(SYS_clone3), [sys_clone] "i"(SYS_clone),
        [sys_exit_group] "i"(SYS_exit_group)
      : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r10", "r11", "r15", "xmm0", "xmm1", "xmm2",
        "xmm3", "cc", "memory");
}

}  // namespace shim::borrow
