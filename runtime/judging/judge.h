#pragma once
// The verdict: one pure and total function from evidence and testimony to an outcome. No system
// header, no I/O, no clock.

#include "runtime/job/outcome.h"
#include "runtime/job/result.h"

namespace runtime {

Verdict judge(const Evidence& seen, const Testimony& said);

// Leaves of a result whose job it was and what it took, and nothing that the program made: the
// trouble is ours.
void give_up(JobResult& result, const Evidence::Fault& fault);

}  // namespace runtime
