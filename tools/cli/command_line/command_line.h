#pragma once
// The command line of zygo: every command, its options, help and examples. This folder is the only
// place that knows CLI11; core/parser.h reads. Reports errors on stderr by itself; the caller gets
// either the request or an exit code.

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
