#pragma once
// The system-call filter of a cell: compiled from the tables of profiles.h once per profile in the
// daemon, handed over as bytes, loaded once by pid 1 of the cell and inherited by all its jobs.
// What the filter does not settle goes to the daemon through the listener (notify.h).

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "sandbox/policy.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

struct seccomp_data;

namespace sandbox {

// The filter as an array of sock_filter, for the architecture zygo is built for. Takes a few
// milliseconds; the bytes are plain data and may be copied, cached and passed to other processes.
sys::Result<std::string> compile_filter(Profile profile);

// Loads the filter for the calling thread and everything it will fork, and returns the listener
// (CLOEXEC). Needs no_new_privs or CAP_SYS_ADMIN; a process can have only one listener (EBUSY).
// From then on a call that is neither allowed nor quiet blocks until somebody answers: whoever
// holds the listener must not live under the filter. Success allocates nothing.
sys::Result<sys::OwnedFd> load_filter(std::span<const std::byte> bpf);

// The same for code that may not allocate even to fail: the listener, or -errno.
int load_filter_raw(std::span<const std::byte> bpf);

// What the filter does with one call.
struct Action {
  uint32_t action = 0;  // SECCOMP_RET_*, without data
  uint16_t data = 0;    // the errno of SECCOMP_RET_ERRNO
  bool operator==(const Action&) const = default;
};
// Runs a compiled filter in user space. A program the kernel would not have accepted (an unknown
// instruction, a jump out of it, no return) is SECCOMP_RET_KILL_PROCESS.
Action evaluate(std::span<const std::byte> bpf, const seccomp_data& call);

// Whether this kernel can notify a supervisor and let it say "go on" (Linux 5.5). Tries it in a
// short-lived child, since outer sandboxes may forbid what the version promises.
bool seccomp_notify_supported();

}  // namespace sandbox
