#pragma once
// `zygo route`: one address for the pilots of many machines. One process, which runs nothing and
// has no rights once it listens.

#include "tools/cli/command_line/command_line.h"
#include "tools/cli/engine_setup.h"

namespace cli {

int route_command(const CommandLine& line, const Parts& parts);

}  // namespace cli
