#pragma once
// Whether the process of a step may go on itself as the next step: only if it has nothing that a
// process would not have into which its node is put back. A node keeps what proc(5) does not show
// of a process, and more; here is what a program can change of its process that no node keeps.
// Pure, from the texts of /proc/PID.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sandbox/rlimits.h"
#include "sandbox/sys/units.h"

namespace runtime {

struct ProcessTexts {
  std::string status, stat, limits;
};

// `parent`: the process that forked it, which set `given` for it, and the lowest class of
// scheduling (shim/cell/run_job.cc).
bool is_as_forked(const ProcessTexts& process, const ProcessTexts& parent,
                  const sandbox::Rlimits& given);

// From the text of /proc/PID/stat: the CPU time of children that it has waited for, rounded up.
sys::Nanoseconds cpu_of_children(std::string_view stat);

// From the same text: where the heap begins. None: the looker may not trace the process.
std::optional<uint64_t> start_of_heap(std::string_view stat);

// From the text of /proc/PID/fdinfo/N. A lock of fcntl(2) or flock(2):
bool holds_lock(std::string_view fdinfo);
// A standard stream, of which others put its description in order (shim/cell/loop.cc): neither a
// lock nor O_CLOEXEC.
bool is_as_given(std::string_view fdinfo);

}  // namespace runtime
