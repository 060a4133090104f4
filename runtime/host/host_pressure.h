#pragma once
// Limits around zygo itself, which its jobs run into before their own: nobody may be blamed for
// that. No state.

#include "runtime/job/outcome.h"

namespace runtime {

// The group that we live in ran full, and the kernel ended this job, of all.
Evidence::Fault outer_memory_is_full();
Evidence::Fault outer_processes_are_used_up();
// The service already holds as much as it may of what the jobs of one client have made.
Evidence::Fault held_too_much();

}  // namespace runtime
