#pragma once
// `zygo kernel run` and `zygo kernel install` (docs/jupyter.md).

#include "tools/cli/engine_setup.h"
#include "tools/cli/options.h"

namespace cli {

int kernel_run_command(const CommandLine& line, const Parts& parts);
int kernel_install_command(const CommandLine& line, const Parts& parts);

}  // namespace cli
