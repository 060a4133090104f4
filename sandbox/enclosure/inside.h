#pragma once
// The child of an enclosure: pid 1 of its namespaces, or the reaper of its session. It makes the
// mounts, starts the command, reaps what is left to it, and ends with the command's status.

#include "sandbox/enclosure/enclosure.h"

namespace sandbox {

[[noreturn]] void lead_enclosure(const EnclosurePlan& plan);

// The mounts of the plan, in a mount namespace of our own.
sys::Result<void> mount_enclosure(const EnclosurePlan& plan);

}  // namespace sandbox
