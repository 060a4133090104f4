#pragma once
// The record of a job in a result, written and read. What is read is held to its form alone;
// whether its digests are those of its job, json/job/job_record tells. Internal to result_json and
// result_reader. Pure.

#include <cstddef>
#include <string>

#include "runtime/job/record.h"
#include "runtime/json/json_reader.h"

namespace runtime {

void append_record(const JobRecord& record, std::string& out);  // the object
size_t most_bytes_of(const JobRecord& record);                  // that it will have
bool read_json(JsonReader& in, JobRecord& record);

}  // namespace runtime
