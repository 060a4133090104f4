#pragma once
// Completions for shells, made from the command line's own grammar: commands, options, the words
// that an option takes, files where it takes a file. Pure.

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace cli {

// The script for "bash", "zsh" or "fish"; nothing for another shell.
std::optional<std::string> completion_script(const CLI::App& app, const std::string& shell);

}  // namespace cli
