// A classic BPF machine for seccomp programs: what tests ask, and nothing the kernel runs.

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstring>

#include "sandbox/seccomp/seccomp.h"

namespace sandbox {
namespace {

constexpr Action kBroken = {SECCOMP_RET_KILL_PROCESS, 0};

Action action_of(uint32_t value) {
  return {value & SECCOMP_RET_ACTION_FULL, static_cast<uint16_t>(value & SECCOMP_RET_DATA)};
}

bool load_word(const seccomp_data& call, uint32_t offset, uint32_t* into) {
  if (offset % 4 != 0 || offset + 4 > sizeof call) return false;
  std::memcpy(into, reinterpret_cast<const std::byte*>(&call) + offset, 4);
  return true;
}

// Taken, not taken, or no such instruction.
int jump_of(const sock_filter& op, uint32_t a) {
  switch (op.code) {
    case BPF_JMP | BPF_JEQ | BPF_K:
      return a == op.k ? op.jt : op.jf;
    case BPF_JMP | BPF_JGT | BPF_K:
      return a > op.k ? op.jt : op.jf;
    case BPF_JMP | BPF_JGE | BPF_K:
      return a >= op.k ? op.jt : op.jf;
    case BPF_JMP | BPF_JSET | BPF_K:
      return (a & op.k) != 0 ? op.jt : op.jf;
    default:
      return -1;
  }
}

}  // namespace

Action evaluate(std::span<const std::byte> bpf, const seccomp_data& call) {
  const size_t count = bpf.size() / sizeof(sock_filter);
  uint32_t a = 0;
  // Jumps only go forward, so this ends.
  for (size_t pc = 0; pc < count; ++pc) {
    sock_filter op;
    std::memcpy(&op, bpf.data() + pc * sizeof op, sizeof op);
    switch (op.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (!load_word(call, op.k, &a)) return kBroken;
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        a &= op.k;
        break;
      case BPF_JMP | BPF_JA:
        if (op.k >= count - pc) return kBroken;
        pc += op.k;
        break;
      case BPF_RET | BPF_K:
        return action_of(op.k);
      default: {
        int distance = jump_of(op, a);
        if (distance < 0) return kBroken;
        pc += static_cast<size_t>(distance);
      }
    }
  }
  return kBroken;
}

}  // namespace sandbox
