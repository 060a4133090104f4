#pragma once
// `zygo mcp`: the Model Context Protocol on stdin and stdout, for one client (docs/mcp.md).

#include "tools/cli/engine_setup.h"
#include "tools/cli/options.h"

namespace cli {

int mcp_command(const CommandLine& line, const Parts& parts);

}  // namespace cli
