#pragma once
// `zygo session`: steps that keep their variables, typed or from files, and the tree that they make
// (docs/sessions.md).

#include "tools/cli/engine_setup.h"
#include "tools/cli/options.h"

namespace cli {

int session_command(const CommandLine& line, const Parts& parts);

}  // namespace cli
