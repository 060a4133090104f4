#pragma once
// `zygo init`: writes a small example into a folder of its own, and changes nothing that is there.

#include "tools/cli/options.h"

namespace cli {

int init_command(const CommandLine& line);

}  // namespace cli
