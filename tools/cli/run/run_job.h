#pragma once
// Turns the options of `zygo run` into a Job. Reads the files that the command line names.

#include <variant>

#include "runtime/job/job.h"
#include "sandbox/sys/fd.h"
#include "tools/cli/engine_setup.h"
#include "tools/cli/options.h"

namespace cli {

struct RunJob {
  runtime::Job job;
  sys::OwnedFd stdin_file;  // what job.stdin_fd borrows with --stdin
};

std::variant<RunJob, Refusal> make_run_job(const RunOptions& options, const CommonOptions& common);

}  // namespace cli
