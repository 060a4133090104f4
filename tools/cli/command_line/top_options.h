#pragma once
// The options of `zygo top`.

#include "tools/cli/options.h"

namespace CLI {
class App;
}

namespace cli {

void add_top(CLI::App& app, CommandLine& into);

}  // namespace cli
