#pragma once
// The steps that the unified hierarchy needs beyond mkdir: controllers are enabled level by level,
// and only in groups that hold no processes themselves. Used by CgroupRoot; daemon only.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/result.h"

namespace sandbox {

// The daemon's place below its root group. The destructor takes back the controllers and moves the
// daemon to where it came from.
class DaemonLeaf {
 public:
  DaemonLeaf() = default;
  // Moves this process from `own_group` to `root_group`/daemon. Refuses, and undoes the move, when
  // other processes stay behind in `own_group`.
  static sys::Result<DaemonLeaf> enter(const std::string& own_group, const std::string& root_group);
  DaemonLeaf(DaemonLeaf&& other) noexcept;
  DaemonLeaf& operator=(DaemonLeaf&& other) noexcept;
  ~DaemonLeaf();

  explicit operator bool() const { return !own_group_.empty(); }
  // These were given to the children of the own group, and go back at the end.
  void lent(std::vector<std::string> controllers) { controllers_ = std::move(controllers); }

 private:
  DaemonLeaf(std::string own_group, std::string root_group);
  std::string own_group_;  // empty: not moved
  std::string root_group_;
  std::vector<std::string> controllers_;
  int owner_ = 0;
};

// Only the root of the whole hierarchy may hold processes and give controllers away; it is the one
// group without cgroup.events. (The root of a cgroup namespace is an ordinary group.)
bool is_hierarchy_root(const std::string& group);

std::vector<std::string> words_of(std::string_view text);

// Finds the group into which the daemon's goes: `own_group` if the daemon is alone there, else the
// nearest group above it without processes, which is where a session or a service keeps its
// neighbours. It must be ours to write to and have been given one of `controllers`. Nothing when
// there is none.
std::optional<std::string> find_home(const std::string& own_group,
                                     const std::vector<std::string>& controllers);

// Gives `controllers` to the children of `group`, one by one; returns those that were not given
// before. The first refusal ends it.
sys::Result<std::vector<std::string>> enable_controllers(
    const std::string& group, const std::vector<std::string>& controllers);

}  // namespace sandbox
