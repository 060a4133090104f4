#pragma once
// The options that all commands have.

#include "tools/cli/options.h"

namespace CLI {
class App;
}

namespace cli {

void add_common(CLI::App& app, CommonOptions& into);

}  // namespace cli
