#pragma once
// Resource limits of a job: the second fence, behind the cell's cgroup. They count per process or
// per user, never per job. Values are made by the daemon; apply_rlimits() runs after a fork.

#include <cstdint>
#include <optional>

#include "sandbox/sys/units.h"

namespace sandbox {

struct Rlimits {
  sys::Bytes core{0};  // does not stop a core_pattern that is a pipe: stay non-dumpable too
  uint64_t open_files = 256;
  sys::Bytes memlock{0};
  // Signals in queues, and timers (timer_create): RLIMIT_SIGPENDING counts the whole uid, here and
  // in each user namespace around (inc_rlimit_get_ucounts in kernel/ucount.c), up to a limit of the
  // one who made the namespace.
  uint64_t pending_signals = 256;
  // RLIMIT_NPROC: counts the whole uid and never binds uid 0.
  std::optional<uint64_t> processes = {};
  std::optional<sys::Bytes> file_size = {};
  // RLIMIT_DATA: counts the inherited image too, so add its size.
  std::optional<sys::Bytes> data = {};
  std::optional<sys::Bytes> stack = {};
  // Reached: SIGKILL, because soft and hard are the same.
  std::optional<uint64_t> cpu_seconds = {};

  bool operator==(const Rlimits&) const = default;
};

// Limits of a program that is executed, once its files are there.
struct ProgramRlimits {
  std::optional<sys::Bytes> file_size = {};
  std::optional<sys::Bytes> stack = {};  // the largest number: what the hard limit gives
  std::optional<sys::Bytes> address_space = {};

  bool operator==(const ProgramRlimits&) const = default;
};

// Sets soft and hard to the wanted value or to the hard limit in force, whichever is lower: nothing
// is ever raised above what we were given. No allocation. 0 or the first errno.
int apply_rlimits(const Rlimits& limits);
int apply_rlimits(const ProgramRlimits& limits);

}  // namespace sandbox
