#pragma once
// One job through an engine, and its one result. Below `zygo run` and `zygo isolate`.

#include <vector>

#include "runtime/engine/engine.h"
#include "tools/cli/run/live_output.h"
#include "tools/cli/signals.h"

namespace cli {

// Waits for the result. When `stop` (may be null) says so, the job is cancelled and so labelled.
runtime::JobResult run_one(runtime::Engine& engine, runtime::Job job, const StopSignals* stop);

// All at once, as many as the engine runs; the results in the order of the jobs.
std::vector<runtime::JobResult> run_all(runtime::Engine& engine, std::vector<runtime::Job> jobs,
                                        const StopSignals* stop);

// As run_one(), and the program's output goes to `output` as it comes. The job is also cancelled
// when our stdout has no reader any more.
runtime::JobResult run_live(runtime::Engine& engine, runtime::Job job, const StopSignals* stop,
                            LiveOutput& output);

}  // namespace cli
