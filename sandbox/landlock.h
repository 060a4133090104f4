#pragma once
// Landlock: rights to files, TCP ports, signals and abstract sockets that a process gives up for
// good. make_ruleset() runs where allocation is fine; restrict_self() runs after a fork, in the
// cell or the job, needs no_new_privs and allocates nothing. The libc has no wrappers, so the
// system calls are raw.

#include <vector>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

namespace sandbox {

// 0: not built, not enabled at boot, or hidden by a filter. Linux 5.13 has 1; 6.18 has 7.
int landlock_abi();

// The rights that stay; the descriptors may be O_PATH and are borrowed. Everything else that the
// running kernel can refuse is refused: TCP bind and connect (ABI 4), device ioctls (5), signals to
// and abstract sockets of processes outside the domain (6).
struct LandlockRules {
  enum class Execution : unsigned char { kDenied, kAllowed };
  std::vector<int> readable = {};  // directories and files: read and execute beneath
  std::vector<int> listable = {};  // directories: listing beneath, but reading nothing
  std::vector<int> scratch = {};   // directories: everything beneath but device nodes
  std::vector<int> devices = {};   // files such as /dev/null: read and write
  Execution in_scratch = Execution::kAllowed;
};
sys::Result<sys::OwnedFd> make_ruleset(const LandlockRules& rules);

// Binds this thread (a single-threaded process: all of it) and its children. 0 or errno. Denials
// are kept out of the audit log: a job could flood it.
int restrict_self(int ruleset);

}  // namespace sandbox
