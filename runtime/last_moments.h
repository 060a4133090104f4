#pragma once
// How processes are ended. SIGKILL is acted upon by the one who is killed, and for that it needs
// the CPU once more: in the lowest class, beside others that compute, it waits for many ticks.

#include <vector>

#include "sandbox/sys/fd.h"

namespace runtime {

// A process that is held by its descriptor: its number cannot become another's.
struct HeldProcess {
  int pid;
  sys::OwnedFd pidfd;
};
// Those of the processes that are below `root` still.
std::vector<HeldProcess> hold_processes(int root, const std::vector<int>& processes);

// Ends those that have not ended; false: none was left. They run before others from then on, as far
// as we may (CAP_SYS_NICE) and as it is safe: one of one thread, that waits for the CPU of the
// caller, as SCHED_DEADLINE (sched(7)); any other as SCHED_OTHER.
bool end_processes(const std::vector<HeldProcess>& processes);

}  // namespace runtime
