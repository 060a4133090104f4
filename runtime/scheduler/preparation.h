#pragma once
// Prepares a task before it can run: finds the objections to its job, and makes the request that
// its cell is sent. Both decide by the catalogue and the job alone; the program of a command is
// looked for on the disk.

#include <string>

#include "runtime/scheduler/catalogue.h"
#include "runtime/scheduler/task.h"

namespace runtime {

// The reason why no cell of this host could run the job, in words for its caller; empty: one can. A
// job that names no profile is given its runtime's.
std::string objection_to(const Catalogue& catalogue, const TemplateSpec& spec, Job& job);

// Sets the request of the task's next run, which is a compiler's while the task has a build.
// Returns what is wrong with the job, if something is.
std::string make_request(const Catalogue& catalogue, const TemplateSpec& spec, Task& task);

}  // namespace runtime
