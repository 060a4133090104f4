#pragma once
// `zygo run`: one program, one verdict. Output goes where the program's would, the label to stderr.

#include "tools/cli/engine_setup.h"
#include "tools/cli/options.h"

namespace cli {

int run_command(const CommandLine& line, const Parts& parts);  // returns the exit code

}  // namespace cli
