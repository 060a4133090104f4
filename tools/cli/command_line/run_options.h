#pragma once
// The options of `zygo run`, `zygo session`, `zygo mcp` and `zygo kernel`.

#include <string>

#include "tools/cli/options.h"

namespace CLI {
class App;
}

namespace cli {

void add_run(CLI::App& app, CommandLine& into);
void add_session(CLI::App& app, CommandLine& into);
void add_mcp(CLI::App& app, CommandLine& into);
void add_kernel_run(CLI::App& app, CommandLine& into);
void add_kernel_install(CLI::App& app, CommandLine& into);
std::string finish_run(const CLI::App& app, CommandLine& line);
// Clients start any kernel of the name python3 with options of IPython's, which are passed over.
std::string finish_kernel_run(const CLI::App& app, CommandLine& line);

}  // namespace cli
