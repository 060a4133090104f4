#pragma once
// A result as one line of JSON: the object that every front end gives back. Plain appending;
// whatever the program wrote is repaired to UTF-8 and escaped, so the line is always one line of
// valid JSON.

#include <string>

#include "runtime/result.h"

namespace runtime {

// Appends the object, without a newline behind it.
void append_result(const JobResult& result, std::string& out);

}  // namespace runtime
