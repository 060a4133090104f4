#pragma once
// The rules of a language for a job's sources: whether it has a compiler that takes flags and
// further files, and that all files fit beside the source. Pure; a shard asks before anything is
// placed.

#include <string>

#include "runtime/builds/runtime_spec.h"
#include "runtime/job/job.h"

namespace runtime {

// Why the template `name` cannot take the job, which begins with the field; empty: it can. A
// template of Python has no runtime.
std::string objection_to_sources(const std::string& name, const RuntimeSpec* runtime,
                                 const Job& job);

}  // namespace runtime
