#pragma once
// The JSON Schemas of a job and of a result (draft 2020-12, as OpenAPI 3.1 has them). That of a job
// is made from the table that validates jobs; a test holds what is written here against what is
// accepted and answered. Pure.

#include <string>

namespace runtime {

std::string job_schema();     // JSON text
std::string result_schema();  // the same

}  // namespace runtime
