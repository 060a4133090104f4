#pragma once
// Reads a command line by a table of commands: what `zygo` and `zygo-batch` share. Reports errors
// on stderr by itself; the caller gets either the request or an exit code.

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tools/cli/options.h"

namespace CLI {
class App;
}

namespace cli {

// A command of a program, or a group of commands.
struct Syntax {
  const char* path;  // "run"; "image list": one of the group "image", which comes before it
  const char* help;
  const char* footer;
  // None: a group, or a command that main() hands on before it comes here, shown by --help only.
  std::optional<Command> command = std::nullopt;
  void (*add)(CLI::App& app, CommandLine& into) = nullptr;  // its own options
  // Once all options are read: what is wrong with them together, or nothing. May complete `line`,
  // and throw CLI::Error. `app` is the whole grammar.
  std::string (*finish)(const CLI::App& app, CommandLine& line) = nullptr;
  // The options that every command has: by them, by the environment and by --config.
  bool has_common = true;
};

struct Program {
  std::span<const Syntax> commands;
  const char* footer;       // below its --help
  const char* others = "";  // behind "unknown command": where other commands are; may be empty
};

// `arguments` without the program's name. An int: the program ends with it (help, version, usage
// error). With `trouble` a usage error is put there, and stderr hears nothing.
std::variant<CommandLine, int> parse_command_line(const Program& program,
                                                  std::vector<std::string> arguments,
                                                  std::string* trouble = nullptr);

}  // namespace cli
