#pragma once
// The system-call policy of each profile, as data. Compiled by seccomp.cc into the filter of a cell
// (pid 1 and its jobs live under the same one) and walked by tests. No system call here, no code.
//
// What no rule matches is *notified*: the daemon refuses it with EPERM and names it (notify.h), so
// a call this list never heard of is refused by name too. A rule without conditions stands alone.

#include <array>
#include <cstdint>
#include <span>

#include "sandbox/policy.h"

namespace sandbox {

enum class Treatment : uint8_t {
  kAllow,
  kQuiet,   // refused with `error` and no label: what honest libraries try and do without
  kNotify,  // the default, written down where the reason deserves a line
};

// args[arg] & mask == value. Where the kernel reads 32 bits, so does the mask: garbage in the upper
// half must neither hide a call nor condemn it.
struct Condition {
  uint8_t arg = 0;
  uint64_t mask = 0;
  uint64_t value = 0;
};

struct Rule {
  const char* call = nullptr;
  std::array<Condition, 2> when{};
  uint8_t conditions = 0;
};

// Rules of one treatment and one reason.
struct RuleGroup {
  const char* why;
  Treatment treatment;
  int error;  // kQuiet only; 0 means "pretend it was done"
  std::span<const Rule> rules;
};

// A profile is the layers it is made of, the common one first; their groups apply together.
using RuleLayer = std::span<const RuleGroup>;
std::span<const RuleLayer> layers_of(Profile profile);

}  // namespace sandbox
