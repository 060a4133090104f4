#pragma once
// Options by the environment, for containers and units: ZYGO_QUEUE=500 is --queue 500,
// ZYGO_ALLOW_ANYONE=yes a flag, ZYGO_LISTEN=A,B one that may be repeated. `zygo serve` reads all of
// its options so, every other command those that all commands have. The command line wins over the
// environment, and both win over --config. An empty variable counts as none.

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cli {

inline constexpr const char* kCommonGroup = "Common options";

// "ZYGO_MAX_BODY"; empty: this option of this command has none.
std::string variable_of(const CLI::App& command, const CLI::Option& option);

// After `app` has parsed the command line: the options that the environment gave, by name. Throws
// CLI::Error that names the variable.
std::vector<std::string> apply_environment(CLI::App& app);

// Says on stderr which variables look like an option of the service's and are none: a setting that
// is misspelt must not be missing in silence.
void warn_of_variables(const CLI::App& serve);

}  // namespace cli
