#pragma once
// `zygo selfcheck` beside a service that runs: a process of its own, with its own engine and cells,
// and with what the service was told about level, layers and interpreter. It is started by the
// service's process, so it has the service's fences around it.

#include <string>
#include <vector>

#include "sandbox/sys/result.h"
#include "tools/cli/options.h"
#include "tools/cli/signals.h"

namespace cli {

// Its report, as JSON, whatever it says; takes seconds. An error: it could not be made, or `stop`
// (may be none) came first.
sys::Result<std::string> run_selfcheck(const CommonOptions& common, const StopSignals* stop);

// The command line, for tests.
std::vector<std::string> selfcheck_arguments(const CommonOptions& common);

}  // namespace cli
