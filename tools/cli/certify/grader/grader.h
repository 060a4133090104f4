#pragma once
// `zygo certify --grader CMD`: gives honest, wrong and hostile programs to somebody's own grader,
// and says which hostile ones it passed and which honest ones it failed. No engine: the grader runs
// the programs.

#include "tools/cli/engine_setup.h"
#include "tools/cli/options.h"

namespace cli {

// 0: neither; 1: some; 2: a name that there is not; 125: no grader can be run here; 130:
// interrupted.
int grader_command(const CommandLine& line, const Parts& parts);

}  // namespace cli
