#pragma once
// `zygo pilot --print ENGINE`: what starts pilots by an engine, on stdout.

#include "tools/cli/options.h"

namespace cli {

int print_command(const PilotOptions& options);

}  // namespace cli
