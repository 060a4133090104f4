#pragma once
// What the project says of jobs, as defaults that lie under all of them.

#include <string>

#include "runtime/json/job/job_json.h"
#include "tools/cli/project/project.h"

namespace cli {

// `given`: a JSON object of the caller's, which wins over the project; empty: there is none.
sys::Result<runtime::JobDefaults> job_defaults(const Project& project, const std::string& given);

}  // namespace cli
