#pragma once
// Limits around zygo itself, which its jobs run into before their own: what nobody may be blamed
// for. No state.

#include "runtime/job/outcome.h"

namespace runtime {

// The group that we live in ran full, and the kernel ended this job, of all.
Evidence::Fault outer_memory_is_full();
Evidence::Fault outer_processes_are_used_up();
// Of what jobs of one client have made, the service already holds as much as it may.
Evidence::Fault held_too_much();

}  // namespace runtime
