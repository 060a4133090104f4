#pragma once
// The job that compiles another job's program, the key of what it makes, and what its end says to
// those who wanted the program. Pure; called by the scheduler.

#include <memory>
#include <string>

#include "runtime/builds/runtime_spec.h"
#include "runtime/job/job.h"
#include "runtime/job/result.h"

namespace runtime {

// The job that compiles `job`'s source.
std::unique_ptr<Job> build_job(const RuntimeSpec& runtime, const Job& job);

// All that a compiler's output may depend on, in one digest. `identity` is that of the compiler and
// of what it reads beside the job. Takes time by the size of the sources.
std::string key_of_build(const RuntimeSpec& runtime, const std::string& identity, const Job& job);
size_t bytes_of_sources(const Job& job);

// The compiler succeeded, and has left a program that a kernel executes. What it was refused it has
// got over, and what it made is confined like any other program.
bool has_made_program(const RuntimeSpec& runtime, const JobResult& build);

// The result of everybody who wanted the program of a build that failed.
JobResult compilation_error(const RuntimeSpec& runtime, JobResult build);

}  // namespace runtime
