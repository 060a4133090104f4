#pragma once
// The verdict: one pure and total function from evidence and testimony to an outcome. No system
// header, no I/O, no clock.

#include "runtime/job/outcome.h"

namespace runtime {

Verdict judge(const Evidence& seen, const Testimony& said);

}  // namespace runtime
