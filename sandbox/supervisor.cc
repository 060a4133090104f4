#include "sandbox/supervisor.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "sandbox/caps.h"
#include "sandbox/seccomp/seccomp.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/sanitized.h"

namespace sandbox {

using sys::Error;
using sys::Result;

namespace {

// Capabilities to make namespaces, mounts, ids and cgroups, read a job's memory, end processes.
constexpr CapMask kDuties =
    cap_bit(CAP_SYS_ADMIN) | cap_bit(CAP_SETUID) | cap_bit(CAP_SETGID) | cap_bit(CAP_SETPCAP) |
    cap_bit(CAP_SETFCAP) | cap_bit(CAP_SYS_PTRACE) | cap_bit(CAP_KILL) | cap_bit(CAP_CHOWN) |
    cap_bit(CAP_FOWNER) | cap_bit(CAP_FSETID) | cap_bit(CAP_DAC_OVERRIDE) |
    cap_bit(CAP_DAC_READ_SEARCH) | cap_bit(CAP_SYS_CHROOT) | cap_bit(CAP_SYS_NICE) |
    cap_bit(40 /* CAP_CHECKPOINT_RESTORE, Linux 5.9 */);

Result<void> drop_capabilities() {
  const CapMask keep = permitted_caps() & kDuties;
  int error = 0;
  if (keep & cap_bit(CAP_SETPCAP)) error = drop_bounding_set(keep);
  if (error == 0) error = keep_only(keep);
  if (error != 0) return Error::from_errno("drop the supervisor's capabilities", error);
  return {};
}

// A table of descriptors that grows while threads share it waits for all CPUs, for tens of
// milliseconds (expand_fdtable in the kernel's fs/file.c: synchronize_rcu). So it grows now; it
// never shrinks, and a child's copy is as long as what is open.
void take_all_open_files() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) < 0) return;
  files.rlim_cur = files.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &files);
  constexpr rlim_t kForSure = 8192;
  const sys::OwnedFd any(::open("/", O_PATH | O_CLOEXEC));
  const int last = static_cast<int>(std::min<rlim_t>(files.rlim_cur, kForSure)) - 1;
  if (any) sys::OwnedFd(::fcntl(any.get(), F_DUPFD_CLOEXEC, last));
}

}  // namespace

Result<void> harden_supervisor(Layers without, bool lends_memory) {
  static bool done = false;
  if (done) return {};
  take_all_open_files();
  if (!without.has(Layer::kCaps)) TRY(drop_capabilities());
  if (!sys::kSanitized && ::prctl(PR_SET_DUMPABLE, 0) < 0)
    return Error::from_errno("PR_SET_DUMPABLE 0");
  if (!without.has(Layer::kNoNewPrivs)) {
    if (int error = set_no_new_privs(); error != 0)
      return Error::from_errno("no_new_privs for the supervisor", error);
    if (!sys::kSanitized && !without.has(Layer::kSeccomp)) {
      const std::string filter = TRY(compile_supervisor_filter(lends_memory));
      TRY(load_for_process(filter));
    }
  }
  done = true;
  return {};
}

uint64_t most_open_files_beside_us() {
  rlimit files{};
  return ::getrlimit(RLIMIT_NOFILE, &files) == 0 ? files.rlim_max / 2 : RLIM_INFINITY;
}

}  // namespace sandbox
