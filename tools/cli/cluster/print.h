#pragma once
// `zygo pilot --print ENGINE`: what starts pilots by an engine, on stdout.

#include "cluster/engines/print.h"
#include "tools/cli/options.h"

namespace cli {

int print_command(const PilotOptions& options);

// What is printed, with this very program as that of the nodes.
cluster::PrintOptions print_options_of(const PilotOptions& options);

}  // namespace cli
