#pragma once
// The contents of a command's --help, as data: manual pages, completions and variables are made
// from it, and so agree with it.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace cli {

// Below `app`, by name; without what is hidden or not built yet.
std::vector<const CLI::App*> shown_commands(const CLI::App& app);
// With a name; without what is hidden.
std::vector<const CLI::Option*> shown_options(const CLI::App& app);
// The arguments, which have no name: PROGRAM, ARGS.
std::vector<const CLI::Option*> shown_arguments(const CLI::App& app);

// "zygo image import", or with other words between.
std::string path_of(const CLI::App& app, const std::string& between = " ");
bool takes_value(const CLI::Option& option);
// The placeholder of the value in --help: "TIME".
std::string placeholder_of(const CLI::Option& option);
// "--wall"; an option without a long name: "-x".
std::string name_of(const CLI::Option& option);

}  // namespace cli
