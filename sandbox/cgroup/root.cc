// The daemon's own groups: made, handed controllers, swept after a crash.

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "sandbox/cgroup/cgroup.h"
#include "sandbox/sys/directory.h"
#include "sandbox/sys/file.h"

namespace sandbox {

using sys::Result;

namespace {

struct Slot {
  Layer layer;
  const char* name;  // of the controller
  std::optional<CgroupLayout::Controller> CgroupLayout::*where;
};
constexpr std::array<Slot, 3> kSlots = {{
    {Layer::kCgroupMemory, "memory", &CgroupLayout::memory},
    {Layer::kCgroupPids, "pids", &CgroupLayout::pids},
    {Layer::kCgroupCpu, "cpu", &CgroupLayout::cpu},
}};

size_t index_of(Layer layer) {
  const auto* slot = std::ranges::find(kSlots, layer, &Slot::layer);
  VERIFY(slot != kSlots.end());
  return static_cast<size_t>(slot - kSlots.begin());
}

constexpr std::string_view kPrefix = "zygo-";

// A group that a daemon has or had. The pid is for readers: in another pid namespace it may be that
// of several daemons, or of none. The claim on the directory tells who lives.
bool is_of_a_daemon(std::string_view name) {
  if (!name.starts_with(kPrefix)) return false;
  name.remove_prefix(kPrefix.size());
  pid_t pid = 0;
  auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (problem != std::errc{} || pid <= 0) return false;
  return end == name.data() + name.size() || *end == '-';
}

std::string name_for_this_daemon() {
  uint32_t chance = 0;
  VERIFY(::getrandom(&chance, sizeof chance, 0) == sizeof chance);
  return std::string(kPrefix) + std::to_string(::getpid()) + "-" + std::to_string(chance);
}

// When there is no home, our own group: what fails there is the reason worth telling.
std::string home_of(const CgroupLayout& own, const CgroupLayout::Controller& directory) {
  std::vector<std::string> wanted;
  for (const Slot& slot : kSlots) {
    if (own.*slot.where == directory) wanted.emplace_back(slot.name);
  }
  return find_home(directory.path, wanted).value_or(directory.path);
}

// A name that somebody else has, be it to sweep, is left to them. Never kills: on v2 the daemon
// itself lives below its root group.
Result<GroupDirectory> make_group(const std::string& path) {
  constexpr int kMostNames = 16;
  for (int number = 0;; ++number) {
    const std::string name = number == 0 ? path : path + "-" + std::to_string(number);
    Result<GroupDirectory> claimed = GroupDirectory::claim(name, Leftovers::kSpared);
    if (claimed || claimed.error().code() != EWOULDBLOCK || number == kMostNames) return claimed;
  }
}

}  // namespace

int sweep_cgroups(const std::string& own_group) {
  std::vector<std::string> found;
  sys::OwnedDirectory directory(::opendir(own_group.c_str()));
  if (!directory) return 0;
  while (const dirent* entry = ::readdir(directory.get())) {
    if (is_of_a_daemon(entry->d_name)) found.push_back(own_group + "/" + entry->d_name);
  }
  int removed = 0;
  for (const std::string& path : found) {
    if (remove_unclaimed(path)) ++removed;
  }
  return removed;
}

CgroupRoot::Homes::~Homes() {
  if (owner != ::getpid()) return;
  for (const std::string& path : paths) sweep_cgroups(path);
}

CgroupRoot CgroupRoot::create() {
  Result<CgroupLayout> own = detect_own_cgroups();
  if (own) return create_in(*own, name_for_this_daemon());
  CgroupRoot none;
  none.obstacles_.fill(own.error().text());
  return none;
}

CgroupRoot CgroupRoot::create_in(const CgroupLayout& own, const std::string& name) {
  CgroupRoot root;
  for (const Controller& directory : own.directories()) {
    Result<void> used = root.use(own, directory, name);
    if (used) continue;
    for (size_t i = 0; i < kSlots.size(); ++i) {
      if (own.*kSlots[i].where == directory) root.obstacles_[i] = used.error().text();
    }
  }
  for (size_t i = 0; i < kSlots.size(); ++i) {
    if (own.*kSlots[i].where) continue;
    root.obstacles_[i] = std::string("no mounted hierarchy with the ") + kSlots[i].name +
                         " controller shows our group";
  }
  return root;
}

Result<void> CgroupRoot::use(const CgroupLayout& own, const Controller& directory,
                             const std::string& name) {
  std::string home = directory.v2 ? home_of(own, directory) : directory.path;
  sweep_cgroups(home);
  homes_.paths.push_back(home);
  GroupDirectory group = TRY(make_group(home + "/" + name));
  Controller ours{group.path(), directory.v2};
  if (directory.v2) {
    TRY(hand_down(own, directory, home, group.path()));
  } else {
    for (const Slot& slot : kSlots) {
      if (own.*slot.where == directory) layout_.*slot.where = ours;
    }
  }
  if (own.cpuacct == directory) layout_.cpuacct = ours;
  groups_.push_back(std::move(group));
  return {};
}

Result<void> CgroupRoot::hand_down(const CgroupLayout& own, const Controller& directory,
                                   const std::string& home, const std::string& group) {
  std::vector<std::string> present = words_of(TRY(sys::read_file(home + "/cgroup.controllers")));
  auto was_given = [&](const Slot& slot) {
    return std::find(present.begin(), present.end(), slot.name) != present.end();
  };
  DaemonLeaf leaf;
  bool any = std::any_of(kSlots.begin(), kSlots.end(), was_given);
  if (any && home == directory.path && !is_hierarchy_root(home)) {
    leaf = TRY(DaemonLeaf::enter(home, group));
  }

  std::vector<std::string> lent;
  for (size_t i = 0; i < kSlots.size(); ++i) {
    const Slot& slot = kSlots[i];
    if (own.*slot.where != directory) continue;
    if (!was_given(slot)) {
      obstacles_[i] = home + " was given no " + slot.name + " controller";
      continue;
    }
    Result<std::vector<std::string>> above = enable_controllers(home, {slot.name});
    if (above) lent.insert(lent.end(), above->begin(), above->end());
    Result<std::vector<std::string>> below =
        above ? enable_controllers(group, {slot.name}) : std::move(above);
    if (below) {
      layout_.*slot.where = Controller{group, true};
    } else {
      obstacles_[i] = below.error().text();
    }
  }
  // In a group that is not ours alone a controller, once given, stays: others may rely on it now.
  leaf.lent(std::move(lent));
  leaf_ = std::move(leaf);
  return {};
}

Layers CgroupRoot::layers() const {
  Layers all;
  for (const Slot& slot : kSlots) {
    if (layout_.*slot.where) all = all.with(slot.layer);
  }
  return all;
}

const std::string& CgroupRoot::obstacle(Layer layer) const { return obstacles_[index_of(layer)]; }

OuterOom OuterOom::open() {
  OuterOom outer;
  sys::Result<CgroupLayout> own = detect_own_cgroups();
  if (!own.ok() || !own->memory) return outer;
  const char* name = own->memory->v2 ? "memory.events" : "memory.oom_control";
  outer.events_ = ControlFile::open_if_any(own->memory->path, name, O_RDONLY);
  return outer;
}

}  // namespace sandbox
