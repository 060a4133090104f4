#pragma once
// How long a job has waited for a CPU, and how much CPU time it has had, since it began.

#include "sandbox/sys/units.h"

namespace runtime {

struct Waiting {
  sys::Nanoseconds longest{};  // of its threads, while ready to run
  sys::Nanoseconds ran{};      // all of them together
  unsigned cpus = 1;           // that it may use at once
};

}  // namespace runtime
