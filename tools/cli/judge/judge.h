#pragma once
// `zygo judge`: submissions against a problem package. Runs on the main thread; returns the exit
// code.

#include "tools/cli/engine_setup.h"
#include "tools/cli/options.h"

namespace cli {

int judge_command(const CommandLine& line, const Parts& parts);

}  // namespace cli
