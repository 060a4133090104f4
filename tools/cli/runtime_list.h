#pragma once
// `zygo runtime list`: the languages, which of them are offered here, and what the others need.

#include "tools/cli/engine_setup.h"
#include "tools/cli/options.h"

namespace cli {

int runtime_list_command(const CommandLine& line, const Parts& parts);

// One line of it. Made on this host, from a runtime's data.
struct OfferedRuntime {
  std::string name, title, version;  // of the tool, as it tells it; empty: not offered
  std::string how;                   // "warm", "compiled" or "executed"
  std::string profile, missing, package;
  std::string variant_of;  // a runtime that has other commands for the same tools; empty: none
  std::string language;    // as those who ask for it by a version call it; empty: by the name
  std::vector<std::string> aliases, extensions;
  bool asked = true;  // false: the tool could not be started, for want of processes or descriptors
};
std::vector<OfferedRuntime> offered_runtimes(const CommandLine& line, const Parts& parts);
std::string runtime_table(const std::vector<OfferedRuntime>& runtimes);
std::string runtime_json(const std::vector<OfferedRuntime>& runtimes);

}  // namespace cli
