#pragma once
// Readers for the tests of a job, and for its checker. Each returns false with the reader's reason
// and path.

#include <vector>

#include "runtime/json/job/job_fields.h"
#include "runtime/json/json_reader.h"

namespace runtime {

inline constexpr size_t kMaxTests = 10000;

bool read_tests(JsonReader& in, const Field& field, std::vector<TestCase>& tests);
bool read_checker(JsonReader& in, const Field& field, Checker& checker);

}  // namespace runtime
