#pragma once

#include <string>

#include "runtime/job/job.h"
#include "runtime/job/result.h"

namespace runtime {

// The result of a job that cannot begin as it came: BadJob, by its caller, with `why` as message.
JobResult refused(const Job& job, const std::string& why);

}  // namespace runtime
