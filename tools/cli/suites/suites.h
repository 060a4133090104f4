#pragma once
// `zygo test`: files of tests against a program in another cell. Runs on the main thread; returns
// the exit code.

#include "tools/cli/engine_setup.h"
#include "tools/cli/options.h"

namespace cli {

int test_command(const CommandLine& line, const Parts& parts);

}  // namespace cli
