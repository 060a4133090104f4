#include "tools/cli/isolate/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "images/host_image.h"

namespace cli {
namespace {

using sandbox::ImageEntry;

constexpr std::string_view kBoxInside = "/box", kScratch = "/tmp";

// Tells whether a directory is always there, so that a rule may say it again.
bool is_there_already(const DirectoryRule& rule) {
  constexpr std::array<std::string_view, 6> kOwn = {"/bin",  "/lib",   "/lib64",
                                                    "/sbin", "/lib32", "/usr"};
  const std::string_view inside = rule.inside, system = rule.file_system;
  if (inside == "/proc") return system == "proc";
  if (inside == kScratch || inside == "/dev/shm") return system == "tmp" || system == "tmpfs";
  if (!system.empty() || rule.writable || rule.no_exec || rule.outside != rule.inside) return false;
  return inside == "/dev" || std::find(kOwn.begin(), kOwn.end(), inside) != kOwn.end();
}

bool is_ours(const std::string& inside) {
  constexpr std::array<const char*, 5> kOurs = {"/box", "/tmp", "/dev", "/proc", "/.zygo"};
  return std::any_of(kOurs.begin(), kOurs.end(),
                     [&inside](const char* ours) { return images::beneath(inside, ours); });
}

// Tells whether a mount can be made there without stepping into another one, whose links lead
// anywhere: on a new directory of the root, on /etc, or on what lies directly in it.
bool has_room_for(const std::string& inside) {
  constexpr std::array<const char*, 7> kMounted = {"/usr",   "/bin",   "/sbin",  "/lib",
                                                   "/lib64", "/lib32", "/libx32"};
  if (is_ours(inside)) return false;
  for (const char* mounted : kMounted) {
    if (images::beneath(inside, mounted)) return false;
  }
  return !images::beneath(inside, "/etc") || inside.find('/', 5) == inside.npos;
}

// In the order in which they were given; a rule for a directory takes the place of the one before.
std::vector<DirectoryRule> settled(const std::vector<DirectoryRule>& rules) {
  std::vector<DirectoryRule> last;
  for (const DirectoryRule& rule : rules) {
    auto same = std::find_if(last.begin(), last.end(), [&rule](const DirectoryRule& old) {
      return old.inside == rule.inside;
    });
    if (same == last.end()) {
      last.push_back(rule);
    } else {
      *same = rule;
    }
  }
  return last;
}

class Builder {
 public:
  explicit Builder(const std::string& box) {
    layout_.folders.push_back(
        {std::string(kBoxInside), box, kBoxInScratch, HostFolder::Writes::kBox});
    layout_.mounts.push_back(
        {ImageEntry::Kind::kSymlink, std::string(kBoxInside), std::string("tmp/") + kBoxInScratch});
  }

  std::string add(const DirectoryRule& rule) {
    if (rule.outside.empty()) return take_back(rule);
    if (is_there_already(rule)) return {};
    if (!rule.file_system.empty()) return "this file system is not to be had here";
    char resolved[PATH_MAX];
    if (!::realpath(rule.outside.c_str(), resolved)) {
      return rule.optional ? "" : fmt::format("{}: {}", rule.outside, std::strerror(errno));
    }
    return rule.writable ? add_written(rule, resolved) : add_mount(rule, resolved);
  }

  Layout take() { return std::move(layout_); }

 private:
  static std::string take_back(const DirectoryRule& rule) {
    DirectoryRule usual = rule;
    usual.outside = rule.inside;
    const bool always = is_there_already(usual) || is_ours(rule.inside);
    return always ? "it is always there here" : "";
  }

  std::string add_written(const DirectoryRule& rule, const char* outside) {
    if (rule.no_exec) return "noexec goes with directories that are only read here";
    if (rule.inside == kBoxInside) {
      layout_.folders.front().outside = outside;
      layout_.folders.front().writes = HostFolder::Writes::kOthers;
    } else if (rule.inside == kScratch) {
      layout_.folders.push_back({rule.inside, outside, "", HostFolder::Writes::kOthers});
    } else {
      return "rw is for /box and /tmp here; other directories of the host can only be read";
    }
    return {};
  }

  std::string add_mount(const DirectoryRule& rule, const char* outside) {
    if (!has_room_for(rule.inside)) return "nothing can be put there here (rw: /box and /tmp)";
    for (const HostFolder& folder : layout_.folders) {
      if (images::beneath(rule.inside, folder.inside) ||
          images::beneath(folder.inside, rule.inside))
        return fmt::format("one inside of the other, it and {}, is not to be had here",
                           folder.inside);
    }
    const auto kind = rule.no_exec ? ImageEntry::Kind::kData : ImageEntry::Kind::kBind;
    layout_.mounts.push_back({kind, rule.inside, outside});
    layout_.folders.push_back({rule.inside, outside, "", HostFolder::Writes::kNothing});
    return {};
  }

  Layout layout_;
};

}  // namespace

std::variant<Layout, IsolateRefusal> lay_out(const std::vector<DirectoryRule>& rules,
                                             const std::string& box) {
  Builder builder(box);
  for (const DirectoryRule& rule : settled(rules)) {
    if (const std::string problem = builder.add(rule); !problem.empty())
      return IsolateRefusal{fmt::format("--dir={}: {}", rule.inside, problem)};
  }
  return builder.take();
}

std::optional<Place> find_place(const Layout& layout, const std::string& path) {
  Place best;
  for (const HostFolder& folder : layout.folders) {
    if (!images::beneath(path, folder.inside)) continue;
    if (best.folder && best.folder->inside.size() > folder.inside.size()) continue;
    best.folder = &folder;
    best.rest = path.size() > folder.inside.size() ? path.substr(folder.inside.size() + 1) : "";
  }
  return best.folder ? std::optional(best) : std::nullopt;
}

}  // namespace cli
