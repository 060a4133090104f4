#pragma once
// What a job insists on, against what a host gives. Pure.

#include <string>
#include <vector>

#include "sandbox/policy.h"

namespace sandbox {

// The first of these levels and layers that a host with such does not give, as "layer NAME" or
// "level NAME"; empty: it gives all. Names that are neither are left aside.
std::string unmet(Level level, Layers layers, const std::vector<std::string>& required);

}  // namespace sandbox
