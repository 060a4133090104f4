#pragma once
// Options for pilots that another command was given, `zygo pilot --print` or `zygo scale`: as words
// of the pilots' own command lines. What is not excepted by name is carried, so that no option is
// forgotten. Those of the environment are not: it says how zygo runs on this machine.

#include <string>
#include <vector>

#include "tools/cli/options.h"

namespace CLI {
class App;
}

namespace cli {

// `command` has all options of a pilot, and those that say what to print. `from_environment`: names
// of options that nobody wrote.
CarriedOptions options_for_pilots(const CLI::App& command,
                                  const std::vector<std::string>& from_environment);

// Of another command, those that all commands have: it runs no job itself.
CarriedOptions common_options_for_pilots(const CLI::App& command,
                                         const std::vector<std::string>& from_environment);

}  // namespace cli
