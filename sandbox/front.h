#pragma once
// The fences of a process that reads untrusted requests and runs nothing: `zygo serve` parses HTTP,
// JSON and the APIs of others behind them. With all of them in force, an attacker in this process
// can answer its clients and submit the jobs that any client may submit.

#include <string>
#include <vector>

#include "sandbox/policy.h"
#include "sandbox/sys/result.h"

namespace sandbox {

struct FrontPlan {
  std::vector<int> readable;  // O_PATH descriptors of directories: reading beneath
  std::vector<int> writable;  // the same: everything beneath but device nodes and execution
  // True if peers of unix sockets are told apart by their user. The kernel shows users of other
  // hosts' maps as one (user_namespaces(7)), so there is no user namespace then.
  bool tells_users_apart = false;
  Layers without;  // for tests that show what a layer does
};

// Confines this process, which has a single thread, for good: network, IPC and host name namespaces
// of its own, no capability, no_new_privs, not dumpable, no file but those of the plan (Landlock)
// and the filter of seccomp/profiles/front.policy. Returns the layers that are in force: which of
// the namespaces and whether Landlock is depends on the host. An error names what had to work.
sys::Result<Layers> confine_front(const FrontPlan& plan);

// The filter as bytes (see compile_filter).
sys::Result<std::string> compile_front_filter();

// The rights that zygo's own processes give up on this host, found by trial processes.
struct OwnFences {
  Layers engine, front;
};
sys::Result<OwnFences> probe_own_fences();

}  // namespace sandbox
