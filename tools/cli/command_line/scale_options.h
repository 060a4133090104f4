#pragma once
// The options of `zygo scale`.

#include "tools/cli/options.h"

namespace CLI {
class App;
}

namespace cli {

void add_scale(CLI::App& app, CommandLine& into);

}  // namespace cli
