#pragma once
// `zygo top`: what a service is doing, second by second, on a terminal.

#include "tools/cli/engine_setup.h"
#include "tools/cli/options.h"

namespace cli {

// 0: ended by q or Ctrl-C, or shown once; 2: the address or the token's file will not do; 125: the
// service cannot be reached.
int top_command(const CommandLine& line, const Parts& parts);

}  // namespace cli
