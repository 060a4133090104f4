#pragma once
// The comparison behind NonDeterministicCode: two runs of one job under different seeds must end
// with the same label, value and stdout. Pure.

#include "runtime/job/result.h"

namespace runtime {

// A first run that ended by limit or policy (or that never ran) stands; no second one is needed.
bool stands_alone(const Verdict& first);

// Folds a later run into the first one's result: same stays as it was, a difference makes it
// NonDeterministicCode and names axis and place. `runs` counts both.
void compare_runs(JobResult& first, const JobResult& later, unsigned runs);

}  // namespace runtime
