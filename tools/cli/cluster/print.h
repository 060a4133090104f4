#pragma once
// `zygo pilot --print ENGINE`: what starts pilots by an engine, on stdout.

#include <string>

#include "cluster/engines/print.h"
#include "sandbox/sys/result.h"
#include "tools/cli/options.h"

namespace cli {

int print_command(const PilotOptions& options);
// What it prints. An error says which option cannot be printed.
sys::Result<std::string> printed_text(const PilotOptions& options);

// What is printed, with this very program as that of the nodes.
cluster::PrintOptions print_options_of(const PilotOptions& options);

}  // namespace cli
