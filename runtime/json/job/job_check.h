#pragma once
// A job that somebody else has made, held to the rules once more: an engine that serves another
// process must not believe that it is a job because it came as one. Pure.

#include <string>

#include "runtime/job/job.h"

namespace runtime {

// Why the engine cannot take it, beginning with the field's path; empty: it can. All that the
// schema (job_fields.h) bounds is looked at, and what APIs of others say beyond it.
std::string objection_to(const Job& job);

}  // namespace runtime
