#pragma once
// The messages of a cell's pid 1 to the holder of its jobs' memory. The vault is written by pid 1
// alone: the borrowed address space maps it read-only and sealed, so no job can change what the
// holder does between two jobs. The desk is one page that both can write; it is wiped after each
// job.

#include <cstddef>
#include <cstdint>

#include "shim/cell/cell.h"

namespace shim::borrow {

// A system call that the holder makes. Another result than `expected` ends the holder.
struct Call {
  long number = 0, first = 0, second = 0, third = 0, expected = 0;
};

// A page to be copied back if it has changed. `counts` is added to the desk's `unchanged` if not.
struct Copy {
  uintptr_t to = 0, from = 0;
  uint64_t counts = 0;
};

// The argument of clone3(2). The filter of a cell lets this one pass and no other, by its address,
// so that a process can be started in the borrowed memory by who may choose its pid alone: that
// takes CAP_CHECKPOINT_RESTORE, which pid 1 and the holder keep and no job has. Where a cell has no
// pid namespace nobody may choose, and the filter lets no clone3 pass: the holder calls clone(2),
// and the daemon, which is asked about it, lets the holder alone go on.
struct CloneArguments {
  uint64_t flags = 0, pidfd = 0;
  uint64_t thread_id = 0;  // of the C library, for CLONE_CHILD_SETTID
  uint64_t parent_thread_id = 0, exit_signal = 0, stack = 0, stack_size = 0, tls = 0;
  uint64_t pids = 0, pid_count = 0;  // asked for, in the innermost namespace first
};

// To say that the memory is restored, or to start a job by one of two calls.
enum class Then : uint64_t { kPark, kClone3, kClone };

// The words at the start of the vault, which parked.cc reads by their offsets. Behind them lie
// `calls` times Call, and then `copies` times Copy.
struct Program {
  uint64_t calls = 0;
  uint64_t copies = 0;
  uint64_t then = 0;         // what is to be done behind the copies: Then
  uint64_t clone_flags = 0;  // of clone(2)
  CloneArguments clone;
  int32_t job_pid = 0;
};
static_assert(offsetof(Program, calls) == 0 && offsetof(Program, copies) == 8 &&
              offsetof(Program, then) == 16 && offsetof(Program, clone_flags) == 24 &&
              offsetof(Program, clone) == 32 && offsetof(CloneArguments, thread_id) == 16 &&
              sizeof(CloneArguments) == 80 && sizeof(Call) == 40 && sizeof(Copy) == 24);

// Where the vault lies in all cells: below what the kernel gives to mmap() and above programs
// (arch/x86/include/asm/elf.h). The filter knows it (sandbox/seccomp/profiles/pure.policy).
constexpr uintptr_t kVaultAddress = 0x6f0000000000;
constexpr uintptr_t kCloneAddress = kVaultAddress + offsetof(Program, clone);

constexpr size_t kProgramBytes = 128 << 10;
// Room for a call of each gap, for all copies, and for some 1,700 runs of pages that are dropped.
constexpr size_t kMostKept = 1024;  // pages that are copied back after each job
constexpr size_t kPageBytes = 4096;
// At most, with a page of zeros.
constexpr size_t kVaultBytes = kProgramBytes + (kMostKept + 1) * kPageBytes;
constexpr size_t kFirstEntry = 128;  // where the calls begin
static_assert(sizeof(Program) <= kFirstEntry);

struct Desk {
  char word = 0;           // the holder reads its wake-up into this
  uint64_t unchanged = 0;  // what it has counted of the copies
  JobOrder order;
  JobFds fds;
};
static_assert(offsetof(Desk, word) == 0 && offsetof(Desk, unchanged) == 8);

}  // namespace shim::borrow
