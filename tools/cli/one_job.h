#pragma once
// One job through an engine, and its one result. Below `zygo run` and `zygo isolate`.

#include "runtime/engine.h"
#include "tools/cli/signals.h"

namespace cli {

// Waits for the result. When `stop` (may be null) says so, the job is cancelled and so labelled.
runtime::JobResult run_one(runtime::Engine& engine, runtime::Job job, const StopSignals* stop);

}  // namespace cli
