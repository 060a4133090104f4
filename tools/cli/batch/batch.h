#pragma once
// `zygo batch`: opens the files, starts the engine, runs the loop, prints the table.

#include "tools/cli/engine_setup.h"
#include "tools/cli/options.h"

namespace cli {

int batch_command(const CommandLine& line, const Parts& parts);  // returns the exit code

}  // namespace cli
