#pragma once
// What the daemon reads of other processes through /proc and pidfds. Cold paths only: deadlines and
// the making of cells.

#include "sandbox/sys/units.h"

namespace runtime {

// The process behind a pidfd, as numbered here; -1 when it is gone.
int pid_of_pidfd(int pidfd);
void kill_by_pidfd(int pidfd);

// CPU time of all processes below `pid` and of those they have waited for (/proc/PID/stat: by 10
// ms).
sys::Nanoseconds cpu_of_descendants(int pid);
// How long those that live waited for a CPU while ready to run (schedstat); zero when it cannot be
// told.
sys::Nanoseconds waiting_time_of_descendants(int pid);

// Anonymous and shared memory that the descendants added: a page that several processes have in
// common counts once over all of them (smaps_rollup, Linux 4.14; Pss_Anon, 5.4).
sys::Bytes memory_of_descendants(int pid);

// CPUs this thread may use.
unsigned usable_cpus();

}  // namespace runtime
