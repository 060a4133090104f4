#pragma once
// The options of `zygo serve`.

#include "tools/cli/options.h"

namespace CLI {
class App;
}

namespace cli {

void add_serve(CLI::App& app, CommandLine& into);

}  // namespace cli
