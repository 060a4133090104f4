#pragma once
// The root file system of a template and of its cells. The launcher gathers every source as a
// detached mount (open_tree, Linux 5.2), builds the image on a fresh tmpfs, makes it read-only
// (mount_setattr, Linux 5.12) and pivots into it. A cell adds its private scratch.

#include <string>
#include <vector>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace sandbox {

struct ImageEntry {
  // kData: a bind whose files cannot be executed.
  enum class Kind { kBind, kDevice, kSymlink, kFile, kDirectory, kData };
  Kind kind;
  std::string target;  // absolute path inside the image
  std::string source;  // host path (kBind, kDevice, kData), link text (kSymlink) or content (kFile)
};
using ImagePlan = std::vector<ImageEntry>;

// Builds the image on a tmpfs mounted over `staging` (any existing directory, in this mount
// namespace only). Needs CAP_SYS_ADMIN over the mount namespace. Everything ends read-only, nosuid;
// nodev except for the devices named in the plan.
sys::Result<void> build_image(const ImagePlan& plan, const std::string& staging);

// Makes `staging` the root of this mount namespace and drops everything else.
sys::Result<void> pivot_into(const std::string& staging);

// A procfs of the caller's pid namespace that is mounted nowhere: only the descriptor reaches it.
// Needs a fully visible /proc in the caller's mount namespace when in a user namespace
// (mount_too_revealing).
sys::Result<sys::OwnedFd> detached_proc();

// Attaches a detached mount at an existing directory. Returns 0 or an errno.
int attach_mount(int mount, const char* target);

// A procfs of the caller's pid namespace at `target` that shows a process nothing but itself: no
// other user's processes (hidepid) and nothing of the system (subset=pid, Linux 5.8). Where it may
// not be had (see above), an empty directory. Returns 0 or an errno; does not allocate.
int mount_own_proc(const char* target);

// Mounts the scratch tmpfs of a cell. `exec` false adds MS_NOEXEC. Returns 0 or an errno; does not
// allocate.
enum class Exec { kNo, kYes };
int mount_scratch(const char* target, uint64_t bytes, uint64_t inodes, Exec exec);

}  // namespace sandbox
