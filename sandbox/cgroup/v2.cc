#include "sandbox/cgroup/v2.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "sandbox/sys/file.h"

namespace sandbox {

using sys::Error;
using sys::Result;

namespace {

constexpr std::string_view kLeaf = "/daemon";
constexpr std::string_view kHandDown = "/cgroup.subtree_control";

Result<void> move_self(const std::string& group) {
  return sys::write_control(group + "/cgroup.procs", "0");
}

bool may_write(const std::string& path) { return ::access(path.c_str(), W_OK) == 0; }

// A thread root's children accept whole processes, a threaded group's do not.
bool is_domain(const std::string& group) {
  Result<std::string> type = sys::read_file(group + "/cgroup.type");  // absent at the root
  return !type || type->starts_with("domain\n") || type->starts_with("domain threaded");
}

bool can_be_home(const std::string& group, bool own, const std::vector<std::string>& controllers) {
  // The last: the kernel asks it of who moves a process from one group below to another.
  if (!may_write(group) || !may_write(group + "/cgroup.procs") || !is_domain(group)) return false;
  Result<std::string> given = sys::read_file(group + "/cgroup.controllers");
  if (!given) return false;
  std::vector<std::string> present = words_of(*given);
  if (std::find_first_of(present.begin(), present.end(), controllers.begin(), controllers.end()) ==
      present.end()) {
    return false;
  }
  if (is_hierarchy_root(group)) return true;
  Result<std::string> processes = sys::read_file(group + "/cgroup.procs");
  if (!processes) return false;
  std::vector<std::string> pids = words_of(*processes);
  std::string self = std::to_string(::getpid());
  return std::all_of(pids.begin(), pids.end(),
                     [&](const std::string& pid) { return own && pid == self; });
}

void take_back(const std::string& group, const std::vector<std::string>& controllers) {
  for (const std::string& each : controllers) {
    (void)sys::write_control(group + std::string(kHandDown), "-" + each);
  }
}

}  // namespace

DaemonLeaf::DaemonLeaf(std::string own_group, std::string root_group)
    : own_group_(std::move(own_group)), root_group_(std::move(root_group)), owner_(::getpid()) {}

DaemonLeaf::DaemonLeaf(DaemonLeaf&& other) noexcept
    : own_group_(std::exchange(other.own_group_, {})),
      root_group_(std::move(other.root_group_)),
      controllers_(std::move(other.controllers_)),
      owner_(other.owner_) {}

DaemonLeaf& DaemonLeaf::operator=(DaemonLeaf&& other) noexcept {
  DaemonLeaf old(std::move(*this));
  own_group_ = std::exchange(other.own_group_, {});
  root_group_ = std::move(other.root_group_);
  controllers_ = std::move(other.controllers_);
  owner_ = other.owner_;
  return *this;
}

DaemonLeaf::~DaemonLeaf() {
  if (own_group_.empty() || owner_ != ::getpid()) return;
  // The own group takes us back only once it gives nothing to its children.
  take_back(root_group_, controllers_);
  take_back(own_group_, controllers_);
  (void)move_self(own_group_);
  ::rmdir((root_group_ + std::string(kLeaf)).c_str());
}

Result<DaemonLeaf> DaemonLeaf::enter(const std::string& own_group, const std::string& root_group) {
  std::string leaf = root_group + std::string(kLeaf);
  if (::mkdir(leaf.c_str(), 0755) < 0 && errno != EEXIST) return Error::from_errno("mkdir " + leaf);
  Result<void> moved = move_self(leaf);
  if (!moved) {
    ::rmdir(leaf.c_str());
    return std::move(moved).error();
  }
  DaemonLeaf entered(own_group, root_group);  // from here on, leaving early moves us back
  // pids and cpu could be given away even now, but then the own group would become the root of a
  // threaded subtree, whose children accept no processes at all.
  std::vector<std::string> others = words_of(TRY(sys::read_file(own_group + "/cgroup.procs")));
  if (others.empty()) return entered;
  return Error::because("other processes (pid " + others.front() + ") share the group " +
                        own_group + ", so its controllers cannot be handed down");
}

std::optional<std::string> find_home(const std::string& own_group,
                                     const std::vector<std::string>& controllers) {
  std::string group = own_group;
  while (::access((group + "/cgroup.controllers").c_str(), F_OK) == 0) {
    if (can_be_home(group, group == own_group, controllers)) return group;
    size_t slash = group.rfind('/');
    if (slash == group.npos || slash == 0) break;
    group.resize(slash);
  }
  return std::nullopt;
}

bool is_hierarchy_root(const std::string& group) {
  return ::access((group + "/cgroup.events").c_str(), F_OK) < 0;
}

std::vector<std::string> words_of(std::string_view text) {
  constexpr std::string_view kSpace = " \n";
  std::vector<std::string> words;
  for (size_t at = text.find_first_not_of(kSpace); at != text.npos;) {
    size_t end = std::min(text.find_first_of(kSpace, at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = text.find_first_not_of(kSpace, end);
  }
  return words;
}

Result<std::vector<std::string>> enable_controllers(const std::string& group,
                                                    const std::vector<std::string>& controllers) {
  std::string file = group + std::string(kHandDown);
  std::vector<std::string> given = words_of(TRY(sys::read_file(file)));
  std::vector<std::string> added;
  for (const std::string& each : controllers) {
    if (std::find(given.begin(), given.end(), each) != given.end()) continue;
    Result<void> enabled = sys::write_control(file, "+" + each);
    if (!enabled) {
      take_back(group, added);
      return std::move(enabled).error().context("enable " + each);
    }
    added.push_back(each);
  }
  return added;
}

}  // namespace sandbox
