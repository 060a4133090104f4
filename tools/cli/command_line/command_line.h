#pragma once
// The command line: every option, its help and its examples. With `grammar`, `manual`,
// `completion`, `documents`, `environment` and `config_file` the only place that knows CLI11.
// Reports errors on stderr by itself; the caller gets either the request or an exit code.

#include <string>
#include <variant>
#include <vector>

#include "tools/cli/options.h"

namespace cli {

// `arguments` without the program's name. An int: zygo ends with it (help, version, usage error).
// With `trouble` a usage error is put there, and stderr hears nothing.
std::variant<CommandLine, int> parse_command_line(std::vector<std::string> arguments,
                                                  std::string* trouble = nullptr);

}  // namespace cli
