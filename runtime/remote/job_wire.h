#pragma once
// Jobs and results on their way between the front and the engine: their values, all of them. What
// is attached to a run (watches, live streams, pairs) does not travel with them; protocol.h says
// how that is told. Pure; bytes come from a process that may be somebody else's.

#include <string>
#include <string_view>

#include "runtime/job/job.h"
#include "runtime/job/result.h"
#include "sandbox/sys/result.h"

namespace runtime {

class WireWriter;
class WireReader;

// What of a step of a session is to be told beside its job, and beside its result: between a front
// and its engine alone, as sessions stay with the service that began them.
void write_step(const Job& job, WireWriter& out);
bool read_step(WireReader& in, Job& job);
void write_step(const JobResult& result, WireWriter& out);
bool read_step(WireReader& in, JobResult& result);

// The spec, the files of the run, how it is executed, and whose turn it takes. Neither the
// `program` nor descriptors.
void write_job(const Job& job, WireWriter& out);
// False: these are no bytes of a job. The rules of jobs are json/job_check's.
bool read_job(WireReader& in, Job& job);

// All but `held` and what a step has left.
void write_result(const JobResult& result, WireWriter& out);
bool read_result(WireReader& in, JobResult& result);

}  // namespace runtime
