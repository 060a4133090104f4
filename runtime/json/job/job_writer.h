#pragma once
// A job as one line of JSON, such as parse_job() reads: what is sent to another machine, or kept.
// Pure.

#include <cstdint>
#include <string>

#include "runtime/job/job.h"
#include "sandbox/sys/result.h"

namespace runtime {

// An error names the first field that JSON cannot say: a source that is not UTF-8, a comparison
// that only front ends of ours ask for.
enum class Usual : uint8_t {
  kOmitted,  // fields that have their default are left out
  kWritten,  // but for those whose default is that there is none
};
sys::Result<std::string> job_line(const JobSpec& job, Usual usual = Usual::kOmitted);

// The calls of a job as they stand in its line; empty: it has none.
std::string calls_json(const JobSpec& job);

}  // namespace runtime
