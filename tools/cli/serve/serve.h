#pragma once
// `zygo serve`: from options to a service that runs until a signal ends it.

#include "tools/cli/engine_setup.h"
#include "tools/cli/options.h"

namespace cli {

int serve_command(const CommandLine& line, const Parts& parts);  // returns the exit code

}  // namespace cli
