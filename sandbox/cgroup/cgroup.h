#pragma once
// Control groups: which ones this process may use, one root group per daemon and one group per
// cell, on cgroup v1, v2 and mixtures of both. Called by the daemon only; a cell's pid 1 merely
// writes "0" into descriptors it was given. Owns the directories it makes and removes them.
//
// Nothing here insists: a controller that cannot be used is simply not in force, and the root says
// why. layers() is what may be reported as enforced.

#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/cgroup/file.h"
#include "sandbox/cgroup/v2.h"
#include "sandbox/policy.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace sandbox {

// The directories of a group, controller by controller. Controllers mounted together share one.
struct CgroupLayout {
  struct Controller {
    std::string path;
    bool v2 = false;
    bool operator==(const Controller&) const = default;
  };
  std::optional<Controller> memory = {};
  std::optional<Controller> pids = {};
  std::optional<Controller> cpu = {};
  std::optional<Controller> cpuacct =
      {};  // on v2 every group has cpu.stat, with or without a controller

  bool operator==(const CgroupLayout&) const = default;
  std::vector<Controller> directories() const;  // each directory once
  CgroupLayout below(std::string_view name) const;
};

// Our own group, from the texts of /proc/self/mountinfo and /proc/self/cgroup. Pure. A controller
// whose hierarchy is not mounted, or whose mount does not show our group (another cgroup
// namespace), is absent. On v2 the texts do not tell which controllers the group was given;
// CgroupRoot asks the kernel.
sys::Result<CgroupLayout> detect_cgroups(std::string_view mountinfo, std::string_view self_cgroup);
sys::Result<CgroupLayout> detect_own_cgroups();

// The daemon's group `zygo-<pid>-<random number>`, below the group it was started in, and claimed
// as long as it lives. On v2 a group with processes cannot give controllers to its children: if the
// daemon is alone in its group, it moves to the leaf `daemon` of its new one and back again at the
// end; if it is not, the new one is made beside its group instead, where that is allowed
// (find_home). Make one per process, before the first fork, and let it outlive every cell.
class CgroupRoot {
 public:
  static CgroupRoot create();
  static CgroupRoot create_in(const CgroupLayout& own, const std::string& name);
  CgroupRoot(CgroupRoot&&) = default;
  CgroupRoot& operator=(CgroupRoot&&) = delete;

  Layers layers() const;                           // of kCgroupMemory, kCgroupPids, kCgroupCpu
  const std::string& obstacle(Layer layer) const;  // why a layer is not in force; else empty
  const CgroupLayout& layout() const { return layout_; }

 private:
  CgroupRoot() = default;
  using Controller = CgroupLayout::Controller;
  // For one directory of `own`: makes the group, and takes into layout_ what can be used there.
  sys::Result<void> use(const CgroupLayout& own, const Controller& directory,
                        const std::string& name);
  sys::Result<void> hand_down(const CgroupLayout& own, const Controller& directory,
                              const std::string& home, const std::string& group);

  // At the end, too: processes of a daemon that was killed may have outlived our beginning.
  struct Homes {
    Homes() = default;
    Homes(Homes&&) = default;
    Homes& operator=(Homes&&) = delete;
    ~Homes();
    pid_t owner = ::getpid();
    std::vector<std::string> paths;
  };

  CgroupLayout layout_;
  std::array<std::string, 3> obstacles_;
  Homes homes_;
  std::vector<GroupDirectory> groups_;
  DaemonLeaf leaf_;  // after groups_: the daemon leaves before its group can be removed
};

// Removes root groups of daemons that are gone, found in `own_group`: those that nobody claims.
// Groups that still hold processes stay. Returns how many went.
int sweep_cgroups(const std::string& own_group);

// The kernel's OOM kills in the group that this process was started in, and below. Where cells have
// no group of their own it tells a job that the host or container ended from one that ended itself.
class OuterOom {
 public:
  static OuterOom open();  // counts nothing where the group cannot be found or read
  std::optional<uint64_t> kills() const { return events_.field("oom_kill"); }

 private:
  ControlFile events_;
};

// The group of one cell. Figures are read with one pread into the stack, on descriptors kept open;
// nullopt means that the controller is not in force (or the kernel too old).
class CellCgroup {
 public:
  CellCgroup() = default;  // no controller in force
  // `name` is unique within the root.
  static sys::Result<CellCgroup> create(const CgroupRoot& root, const std::string& name);
  // Takes over directories that exist.
  static sys::Result<CellCgroup> adopt(const CgroupLayout& layout, std::string name);

  Layers layers() const;
  // Into each of these the cell's pid 1, single-threaded, writes "0". On v1 they are `tasks` files:
  // a thread that moves itself that way does not wait for the grace period that a write to
  // cgroup.procs may cost (10 ms after an idle gap). The kernel checks the opener's rights, so the
  // writer needs none.
  std::vector<int> join_fds() const;
  // For clone3(CLONE_INTO_CGROUP), Linux 5.7: the directory on v2, or -1.
  int clone_into_fd() const { return v2_directory_.get(); }

  // A limit below the memory in use that cannot be reclaimed: EBUSY, the old one stays. No swap.
  sys::Result<void> set_memory_limit(sys::Bytes limit);
  sys::Result<void> set_pids_limit(uint64_t count);
  // Tells whether the group can stand back: it then gets the CPU only when no group beside it wants
  // it (cpu.idle, Linux 5.15, v1 and v2), and those take it at once when they wake.
  bool can_stand_back() const { return static_cast<bool>(cpu_idle_); }
  void set_back(bool back) { (void)cpu_idle_.write(back ? 1 : 0); }
  // The peak counts from now on. False where the kernel cannot: v2 before Linux 6.12.
  bool reset_peak();

  std::optional<sys::Bytes> usage() const;
  std::optional<sys::Bytes> peak() const;
  // Processes killed at the cell's own limit, since the cell began: take differences.
  std::optional<uint64_t> oom_kills() const;
  // Processes killed because a group above, or the machine, was out of memory: nobody's fault in
  // here. On v1, and once both happened in one cell, they cannot be told apart.
  std::optional<uint64_t> foreign_oom_kills() const;
  // Forks refused by the limit. On v2 before Linux 6.11, and on v1, also by a limit further up.
  std::optional<uint64_t> pids_refused() const;
  // Tells whether there were ever as many processes as the limit allows: if not, a fork was refused
  // by a limit further up. Nothing: the kernel does not say (pids.peak, Linux 6.1). Opens the file.
  std::optional<bool> reached_pids_limit(uint64_t count) const;
  std::optional<uint64_t> pids() const;
  std::optional<sys::Nanoseconds> cpu_usage() const;  // whole group, likewise

  // Removes the group and says what stands in the way; the destructor does the same in silence.
  // Both wait at most 20 ms per hierarchy: end the cell's processes first.
  sys::Result<void> remove();

 private:
  sys::Result<void> set_memory_limit_v2(sys::Bytes limit);
  sys::Result<void> open_files(const CgroupLayout& layout);
  sys::Result<void> open_memory(const CgroupLayout::Controller& group);
  sys::Result<void> open_pids(const CgroupLayout::Controller& group);
  sys::Result<void> open_cpuacct(const CgroupLayout::Controller& group);

  std::string name_;
  std::vector<GroupDirectory> groups_;
  std::vector<sys::OwnedFd> joins_;
  sys::OwnedFd v2_directory_;
  Layers layers_;
  bool memory_v2_ = false;
  std::string memory_path_, pids_path_;
  bool peak_restarts_ = false;
  bool cpuacct_v2_ = false;
  uint64_t memsw_set_ = UINT64_MAX;  // v1: what memory.memsw.limit_in_bytes holds
  ControlFile memory_limit_, memsw_limit_, memory_usage_, memory_peak_, memory_events_;
  ControlFile pids_limit_, pids_current_, pids_events_;
  ControlFile cpu_usage_, cpu_idle_;
};

}  // namespace sandbox
