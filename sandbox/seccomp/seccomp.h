#pragma once
// The system-call filter of a cell: compiled from the text of its profile (profiles.h) once in the
// daemon, handed over as bytes, loaded once by pid 1 of the cell and inherited by all its jobs.
// Calls that the filter does not settle go to the daemon through the listener (notify.h).

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/policy.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

struct seccomp_data;

namespace sandbox {

// No kernel has so many calls; engines refuse whatever is beyond those that they know.
inline constexpr int kBeyondAllCalls = 512;

// Features that a host lacks and the filter replaces. All false and empty: none is missing.
struct FilterVariant {
  // Calls that a filter around us answers with an errno, which outranks a notification: nobody
  // would hear of them. Where the profile notifies, these are trapped instead (TRAP outranks both),
  // and the job's own SIGSYS handler reports them (report.h). kBeyondAllCalls among them
  // stands for all numbers from there on.
  std::vector<int> masked = {};
  bool masked_clone_flags = false;  // the same for clone() with any CLONE_NEW* flag
  bool count_processes = false;     // no cgroup counts: clone, fork and vfork are asked about
  bool count_memfds = false;        // nor what memfd_create makes
  bool count_pipes = false;         // cells have one uid, by which the kernel counts pages of pipes
  bool shared_uid = false;  // cells have one uid: signals are asked about; no setsid, no setpgid
  bool dumpable = false;    // the daemon may look into a job only while it is dumpable: it stays so
  // The image is no read-only mount: what changes a file by descriptor is asked about.
  bool shared_files = false;
  // The program makes machine code (a JIT): memory that could be written may be executed. Profiles
  // that run programs of their scratch imply it.
  bool makes_code = false;
  // Jobs have one address space, one after the other: what of it a rollback could not restore is
  // refused (shim/borrow/holder.h).
  bool borrows_memory = false;
  // Processes have no pid namespace of their own, so nobody chooses a pid: where memory is
  // borrowed, the start of each job is asked about.
  bool shared_pids = false;
  bool operator==(const FilterVariant&) const = default;
};

// The filter as an array of sock_filter, for the architecture zygo is built for. Takes a few
// milliseconds; the bytes are plain data and may be copied, cached and passed to other processes.
sys::Result<std::string> compile_filter(Profile profile, const FilterVariant& variant = {});

// A filter that sends every call to the listener, for looking at what a program does. Exempt is
// sendmsg on `descriptor`: by it the listener itself is handed over.
sys::Result<std::string> compile_observer(int descriptor);

// Loads the filter for the calling thread and everything it will fork, and returns the listener
// (CLOEXEC). Needs no_new_privs or CAP_SYS_ADMIN; a process can have only one listener (EBUSY).
// From then on a call that is neither allowed nor quiet blocks until it is answered: the holder of
// the listener must not run under the filter. Success allocates nothing.
sys::Result<sys::OwnedFd> load_filter(std::span<const std::byte> bpf);

// The same for code that may not allocate even to fail: the listener, or -errno.
int load_filter_raw(std::span<const std::byte> bpf);

// Loads a filter without notifications for all threads of this process and all that they will fork.
sys::Result<void> load_for_process(std::string_view bpf);

// The filter's action for one call.
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
