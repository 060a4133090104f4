#pragma once
// The trial runner behind probe.h: forks, runs one function in the child, brings its answer home.

#include <cerrno>

namespace sandbox {

struct ProbeAnswer {
  int error = 0;          // 0: it works
  const char* step = "";  // what was attempted last; a literal, valid on both sides of the fork
  long value = 0;
  bool ok() const { return error == 0; }
};
inline ProbeAnswer refused(const char* step, int error = errno) { return {error, step, 0}; }

// Runs in the child: async-signal-safe calls only, because another thread may have held the
// allocator's lock at the fork.
using ProbeFunction = ProbeAnswer (*)(const void* argument);
ProbeAnswer run_in_child(ProbeFunction function, const void* argument = nullptr);

// For trials that must fork once more (a pid namespace begins with the next child). The grandchild
// returns 0 or an errno. Async-signal-safe.
ProbeAnswer run_in_grandchild(int (*function)(), const char* step);
int wait_for(int pid, const char** step);

// The trials.
struct NamespaceTrial {
  enum class Where : unsigned char { kUserNamespace, kHere };
  int flag = 0;  // CLONE_NEWNET, ...; 0: the user namespace alone
  Where where = Where::kUserNamespace;
};
ProbeAnswer try_namespace(const void* namespace_trial);
// Every namespace that a cell has, a root and a tmpfs in them.
ProbeAnswer try_all_namespaces(const void*);
ProbeAnswer try_unprivileged_user_namespace(const void* spare_ids);
ProbeAnswer try_scratch(const void* namespace_trial);
ProbeAnswer try_fresh_proc(const void*);
ProbeAnswer try_map_range(const void* spare_ids);
ProbeAnswer try_another_uid(const void* spare_ids);
ProbeAnswer try_chroot(const void*);

ProbeAnswer try_seccomp(const void*);
ProbeAnswer try_notification(const void*);
ProbeAnswer try_landlock(const void* ruleset_fd);
ProbeAnswer try_landlock_scope(const void* ruleset_fd);
ProbeAnswer try_read_job(const void* spare_ids);
ProbeAnswer try_no_new_privs(const void*);
ProbeAnswer try_drop_caps(const void*);
ProbeAnswer try_rlimits(const void*);
ProbeAnswer try_close_range(const void*);
ProbeAnswer try_clone3(const void*);
ProbeAnswer try_pidfd(const void*);
ProbeAnswer try_sched_idle(const void*);
ProbeAnswer try_oom_score(const void*);
ProbeAnswer try_core_scheduling(const void*);
// Tries all that confines a job, combined: descriptors, no_new_privs, capabilities, Landlock, both
// kinds of filters, limits.
ProbeAnswer try_confinement(const void* ruleset_fd);

// Ids that are mapped here and nobody's in particular: `uid` and `uid + 1` are free to borrow.
struct SpareIds {
  unsigned uid = 65534;
  unsigned gid = 65534;
};

}  // namespace sandbox
