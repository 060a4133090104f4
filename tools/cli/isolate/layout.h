#pragma once
// The layout of a sandbox: the directories of the host that are copied into the program's scratch
// and back, and those that are mounted, read-only. Two places can be written to, /box and /tmp; a
// rule may say which directory of the host is behind them.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sandbox/mounts/mounts.h"
#include "tools/cli/isolate/options.h"

namespace cli {

inline constexpr const char* kBoxInScratch = "box/";

// A directory of the host that the program sees at `inside`.
struct HostFolder {
  // kBox: the program's own, whatever its permissions say. kOthers: what the permissions for
  // others allow. kNothing: it is mounted, and only read.
  enum class Writes : uint8_t { kBox, kOthers, kNothing };
  std::string inside, outside;
  std::string scratch;  // of what is written: its place in the scratch; "" or kBoxInScratch
  Writes writes = Writes::kNothing;
};

struct Layout {
  std::vector<HostFolder> folders;
  sandbox::ImagePlan mounts;
};

// `box`: the directory behind /box. Asks the host which directories there are. An error names the
// rule.
std::variant<Layout, IsolateRefusal> lay_out(const std::vector<DirectoryRule>& rules,
                                             const std::string& box);

// The folder that holds a path of the sandbox, and the rest of the path; none: it is the image's.
struct Place {
  const HostFolder* folder = nullptr;
  std::string rest;
};
std::optional<Place> find_place(const Layout& layout, const std::string& path);

}  // namespace cli
