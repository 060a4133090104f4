#pragma once
// `zygo scale`: asks a batch engine for more or fewer pilots, as a router's jobs want them.

#include "tools/cli/engine_setup.h"
#include "tools/cli/options.h"

namespace cli {

int scale_command(const CommandLine& line, const Parts& parts);

}  // namespace cli
