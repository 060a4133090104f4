#pragma once
// A job as one line of JSON, such as parse_job() reads: what is sent to another machine, or kept.
// Fields that have their default are left out. Pure.

#include <string>

#include "runtime/job/job.h"
#include "sandbox/sys/result.h"

namespace runtime {

// An error names the first field that JSON cannot say: a source that is not UTF-8, a comparison
// that only front ends of ours ask for.
sys::Result<std::string> job_line(const JobSpec& job);

}  // namespace runtime
