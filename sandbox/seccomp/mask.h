#pragma once
// The part of a filter for hosts where a filter around us answers some calls first. Daemon side.

#include <string>

#include "sandbox/seccomp/seccomp.h"

namespace sandbox {

// The filter, with the notifications that nobody would hear of (variant.masked and
// variant.masked_clone_flags) replaced by traps. What it settles otherwise stays as it is.
sys::Result<std::string> trap_masked(std::string filter, const FilterVariant& variant);

}  // namespace sandbox
