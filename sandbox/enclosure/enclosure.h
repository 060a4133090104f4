#pragma once
// An enclosure: a command of the host, and all that it starts, in pid, mount and IPC namespaces of
// its own. It sees the host's files and programs and may start sandboxes of its own; what it
// writes is gone with it, and so is every process that it leaves. It is for programs that the
// caller trusts, but that run others which they cannot contain. Called by a process with a single
// thread, because the set-up in the child allocates. Owns nothing but the child.

#include <string>
#include <utility>
#include <vector>

#include "sandbox/cgroup/cgroup.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/spawn.h"
#include "sandbox/sys/units.h"

namespace sandbox {

// How far a host lets a command be enclosed.
enum class Fence {
  kNamespaces,  // as said above
  // Its processes are found and killed at its end. It can signal what its user can, and what it
  // writes stays.
  kProcesses,
};

struct EnclosurePlan {
  Fence fence = Fence::kNamespaces;
  std::vector<std::string> argv;         // argv[0] is a path
  std::vector<std::string> environment;  // NAME=value
  // An empty directory of the host, for this command alone. Inside it has `work`, where the command
  // starts and may write, and `given` with these files (names and contents).
  std::string folder;
  std::vector<std::pair<std::string, std::string>> given;
  // Directories of the host whose changes are kept in memory, until the end; everything else but
  // control groups is read-only.
  std::vector<std::string> layered;
  sys::Bytes memory = sys::mebibytes(512);  // for what is written
  int in = -1, out = -1, err = -1;          // become 0, 1 and 2
  int trouble = -1;                         // why the enclosure could not be made is written there
  const CellCgroup* group = nullptr;        // to be joined; or none
};

// The child ends with the command's exit code, or 128 + signal.
sys::Result<sys::Child> start_enclosed(const EnclosurePlan& plan);

// Ends the command and all that it has started; the child is to be waited for. In namespaces,
// dropping the child does it as well.
void end_enclosed(const sys::Child& child, Fence fence);

// Whether this host lets a process make such namespaces; an error says what is missing.
sys::Result<void> try_enclosure(const std::string& folder, const std::vector<std::string>& layered);

}  // namespace sandbox
