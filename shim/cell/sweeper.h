#pragma once
// Where a cell has no pid namespace, nothing takes a job's processes along when pid 1 dies, and
// kill(-1) from pid 1 would reach the whole host. A sweeper does this instead: a process forked
// when the cell is made, outside the cell's filter and the reach of jobs, that waits on a socket.
// It kills on request, and once more when the socket closes: however the cell ends, nothing of its
// job is left.
//
//   by user   (level contained)  kill(-1) with the job's uid as effective one and an id nobody else
//                                has as real and saved one: it reaches the job's processes and no
//                                others, and none of them can signal it (kill(2), credentials(7))
//   by group  (level minimal)    kill(-group): the filter refuses setsid and setpgid to jobs
//
// kill(-1) is atomic against forks: it holds the kernel's task list, and a fork with a fatal signal
// pending fails.

#include <sys/types.h>

#include <cstdint>

namespace shim {

struct SweeperPlan {
  uint32_t job_id = 0;      // 0: by group
  uint32_t sweeper_id = 0;  // with job_id
};

// Forks the sweeper and gives our end of the line through `line`. 0 or an errno. Its parent is the
// caller's parent, so that the caller's own children are jobs only.
int start_sweeper(const SweeperPlan& plan, int& line);

// From now on the sweeper's sweeps are for this process group.
void arm_sweeper(int line, pid_t group);
// Returns when it has swept: later it would hit the next job, which has the same uid. The caller
// reaps what dies.
void sweep(int line);

}  // namespace shim
