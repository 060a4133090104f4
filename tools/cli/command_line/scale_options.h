#pragma once
// The options of `zygo scale`.

#include <string>

#include "tools/cli/options.h"

namespace CLI {
class App;
}

namespace cli {

void add_scale(CLI::App& app, CommandLine& into);
std::string finish_scale(const CLI::App& app, CommandLine& line);

}  // namespace cli
