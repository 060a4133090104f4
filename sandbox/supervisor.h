#pragma once
// The supervisor's own fences: the rights that the daemon gives up, for itself and for all that it
// will start, before it reads the first hostile byte. It must still make namespaces, mounts and
// ids, so where it runs as root it keeps powerful rights.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "sandbox/policy.h"
#include "sandbox/sys/result.h"

namespace sandbox {

// As many open files as the hard limit gives; no_new_privs; not dumpable, so that no process of the
// same user reads its memory; only the capabilities that its duties need, in the bounding set too;
// the filter of seccomp/profiles/supervisor.policy. Before threads are started: they inherit it.
// Idempotent. `without` is for tests that show what a layer does: the supervisor's fence of that
// name must be out, too. `lends_memory`: cells may use userfaultfd(2), see shim/borrow/holder.h.
sys::Result<void> harden_supervisor(Layers without = {}, bool lends_memory = false);

// Descriptors that were sent and not received yet are counted per user, and who has no privilege
// sends none while there are more of them than it may have open files (ETOOMANYREFS; unix(7)). So
// jobs with our own uid may have this many at most, half of what we may.
uint64_t most_open_files_beside_us();

// The filter as bytes (see compile_filter), for tests.
sys::Result<std::string> compile_supervisor_filter(bool lends_memory = false);

}  // namespace sandbox
