#pragma once
// `zygo blob put|list|remove`: contents that jobs name by their digest. Needs no engine.
// Exit codes: 0; 2 when a file or a digest will not do; 125 when the host says no.

#include "tools/cli/engine_setup.h"
#include "tools/cli/options.h"

namespace cli {

int blob_put_command(const CommandLine& line);
int blob_list_command(const CommandLine& line);
int blob_remove_command(const CommandLine& line);

}  // namespace cli
