#pragma once
// The job of `zygo test`: the program's cell is the job, the tests' cell its interactor.

#include <string>
#include <vector>

#include "runtime/job/job.h"
#include "tools/cli/options.h"

namespace cli {

// A file, or all files below a folder but hidden ones. Links that lead out of a folder are refused.
sys::Result<std::vector<runtime::InputFile>> read_suite_files(const std::string& path);

runtime::Job suite_job(const TestOptions& options, const std::string& template_name,
                       std::vector<runtime::InputFile> program,
                       std::vector<runtime::InputFile> tests);

}  // namespace cli
