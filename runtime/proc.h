#pragma once
// What the daemon reads of other processes through /proc and pidfds. Cold paths only: deadlines and
// the making of cells.

#include "sandbox/sys/units.h"

namespace runtime {

// The process behind a pidfd, as numbered here; -1 when it is gone.
int pid_of_pidfd(int pidfd);
void kill_by_pidfd(int pidfd);

// CPU time of all live processes below `pid`, and the time that they waited for a CPU while ready to run
// (/proc/PID/schedstat). Zero when it cannot be told.
sys::Nanoseconds cpu_of_descendants(int pid);
sys::Nanoseconds waiting_time_of_descendants(int pid);

// CPUs this thread may use.
unsigned usable_cpus();

}  // namespace runtime
