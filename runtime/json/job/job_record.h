#pragma once
// The record of a job: its whole text, with every default written out, and digests of its parts.
// Made where the job is read, and held against its text where a record is read. Pure.

#include <optional>
#include <string>

#include "runtime/job/job.h"
#include "runtime/job/record.h"
#include "sandbox/sys/result.h"

namespace runtime {

// An error names the first field that JSON cannot say.
sys::Result<RecordedJob> record_of(const JobSpec& job);

// Makes the record of a job that asks for one, for its result.
sys::Result<void> keep_record(Job& job);

// Null, or the sentence: which of the digests is not that of its part. `said` is what a record has,
// `job` is what was read from its text.
std::optional<std::string> objection_to_record(const RecordedJob& said, const JobSpec& job);

}  // namespace runtime
