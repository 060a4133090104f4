#pragma once
// Namespaces: which clone flags a set of layers means, and the id maps of user namespaces. Used by
// the launcher (template zygote) and by the template (cells). Nothing here allocates.

#include <sys/types.h>

#include <cstdint>
#include <span>

#include "sandbox/policy.h"
#include "sandbox/sys/result.h"

namespace sandbox {

// CLONE_NEW* flags for the namespaces among `layers`; the cgroup namespace is left out, because it
// must be unshared after the process has joined its cgroup.
uint64_t clone_flags_for(Layers layers);

// One line of /proc/PID/uid_map or gid_map (user_namespaces(7)).
struct IdRange {
  uint32_t inside;
  uint32_t outside;
  uint32_t count;
};

// Writes uid_map and gid_map of `pid` through `proc`, a directory descriptor of a procfs that knows
// the pid. Returns 0 or an errno.
int write_id_maps(int proc, pid_t pid, std::span<const IdRange> uids,
                  std::span<const IdRange> gids);

// The unprivileged form: maps `inside` to the caller's own uid and gid, and nothing else.
int write_single_id_maps(int proc, pid_t pid, uint32_t inside);

// Becomes `uid`/`gid` for good in this process: groups first. Returns 0 or an errno.
int become(uint32_t uid, uint32_t gid, bool can_set_groups);

}  // namespace sandbox
