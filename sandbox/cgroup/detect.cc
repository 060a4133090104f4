// Finding our own groups: pure text work, see proc_pid_mountinfo(5) and cgroups(7).

#include <algorithm>
#include <charconv>

#include "sandbox/cgroup/cgroup.h"
#include "sandbox/sys/file.h"

namespace sandbox {

using sys::Error;
using sys::Result;

namespace {

struct Mount {
  std::string root;  // which group the mount shows as its top
  std::string point;
  bool v2 = false;
  bool read_only = false;
  std::string controllers;  // v1: the options of the file system
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool lists(std::string_view options, std::string_view word) {
  std::vector<std::string_view> words = split(options, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

// mountinfo writes space, tab, newline and backslash as \040 and so on.
std::string unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == '\\' && i + 3 < text.size() &&
        std::from_chars(digits, digits + 3, code, 8).ptr == digits + 3) {
      out += static_cast<char>(code);
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

// "31 23 0:28 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu"
std::optional<Mount> parse_mount(std::string_view line) {
  std::vector<std::string_view> fields = split(line, ' ');
  auto dash = std::find(fields.begin(), fields.end(), "-");
  if (fields.size() < 6 || fields.end() - dash < 4) return std::nullopt;
  if (dash[1] != "cgroup" && dash[1] != "cgroup2") return std::nullopt;
  return Mount{.root = unescape(fields[3]),
               .point = unescape(fields[4]),
               .v2 = dash[1] == "cgroup2",
               .read_only = lists(fields[5], "ro") || lists(dash[3], "ro"),
               .controllers = std::string(dash[3])};
}

bool climbs(std::string_view path) { return path == "/.." || path.starts_with("/../"); }

// The path at which the mount shows `group`, if it does. Paths that climb lie outside our cgroup
// namespace: the names on the way back down are hidden from us.
std::optional<std::string> visible_at(const Mount& mount, std::string_view group) {
  if (climbs(mount.root) || climbs(group)) return std::nullopt;
  std::string_view rest = group;
  if (mount.root != "/") {
    if (!rest.starts_with(mount.root)) return std::nullopt;
    rest.remove_prefix(mount.root.size());
    if (!rest.empty() && rest.front() != '/') return std::nullopt;
  }
  return rest.empty() || rest == "/" ? mount.point : mount.point + std::string(rest);
}

// Prefers, of several mounts of one hierarchy, one that can be written to.
template <typename Matches>
std::optional<std::string> find_group(const std::vector<Mount>& mounts, std::string_view group,
                                      Matches matches) {
  std::optional<std::string> found;
  for (const Mount& mount : mounts) {
    if (!matches(mount)) continue;
    std::optional<std::string> path = visible_at(mount, group);
    if (path && !mount.read_only) return path;
    if (path && !found) found = path;
  }
  return found;
}

struct Membership {
  std::string_view controllers;  // empty: the unified hierarchy
  std::string_view group;
};

Result<std::vector<Membership>> parse_membership(std::string_view self_cgroup) {
  std::vector<Membership> all;
  for (std::string_view line : split(self_cgroup, '\n')) {
    size_t first = line.find(':');
    size_t second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos || second + 1 >= line.size() || line[second + 1] != '/') {
      return Error::because("unexpected line in /proc/self/cgroup: " + std::string(line));
    }
    all.push_back({line.substr(first + 1, second - first - 1), line.substr(second + 1)});
  }
  return all;
}

std::optional<CgroupLayout::Controller> locate(const std::vector<Mount>& mounts,
                                               const std::vector<Membership>& memberships,
                                               std::string_view controller) {
  for (const Membership& member : memberships) {
    if (!lists(member.controllers, controller)) continue;
    std::optional<std::string> path = find_group(mounts, member.group, [&](const Mount& mount) {
      return !mount.v2 && lists(mount.controllers, controller);
    });
    // A controller that some v1 hierarchy holds cannot be had from v2 at the same time.
    if (!path) return std::nullopt;
    return CgroupLayout::Controller{*path, false};
  }
  for (const Membership& member : memberships) {
    if (!member.controllers.empty()) continue;
    std::optional<std::string> path =
        find_group(mounts, member.group, [](const Mount& mount) { return mount.v2; });
    if (path) return CgroupLayout::Controller{*path, true};
  }
  return std::nullopt;
}

}  // namespace

Result<CgroupLayout> detect_cgroups(std::string_view mountinfo, std::string_view self_cgroup) {
  std::vector<Membership> memberships = TRY(parse_membership(self_cgroup));
  std::vector<Mount> mounts;
  for (std::string_view line : split(mountinfo, '\n')) {
    if (std::optional<Mount> mount = parse_mount(line)) mounts.push_back(*std::move(mount));
  }
  return CgroupLayout{.memory = locate(mounts, memberships, "memory"),
                      .pids = locate(mounts, memberships, "pids"),
                      .cpu = locate(mounts, memberships, "cpu"),
                      .cpuacct = locate(mounts, memberships, "cpuacct")};
}

Result<CgroupLayout> detect_own_cgroups() {
  std::string mountinfo = TRY(sys::read_file("/proc/self/mountinfo"));
  std::string self_cgroup = TRY(sys::read_file("/proc/self/cgroup"));
  return detect_cgroups(mountinfo, self_cgroup);
}

std::vector<CgroupLayout::Controller> CgroupLayout::directories() const {
  std::vector<Controller> all;
  for (const std::optional<Controller>* each : {&memory, &pids, &cpu, &cpuacct}) {
    if (*each && std::find(all.begin(), all.end(), **each) == all.end()) all.push_back(**each);
  }
  return all;
}

CgroupLayout CgroupLayout::below(std::string_view name) const {
  CgroupLayout child = *this;
  for (std::optional<Controller>* each : {&child.memory, &child.pids, &child.cpu, &child.cpuacct}) {
    if (*each) (*each)->path += "/" + std::string(name);
  }
  return child;
}

}  // namespace sandbox
