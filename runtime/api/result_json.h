#pragma once
// A result as one line of JSON: the object that every front end gives back. Plain appending;
// whatever the program wrote is repaired to UTF-8 and escaped, so the line is always one line of
// valid JSON.

#include <string>

#include "runtime/result.h"

namespace runtime {

// At most so many bytes the object will have; a quick look, which writes nothing.
size_t most_bytes_of(const JobResult& result);

// Appends the object, without a newline behind it.
void append_result(const JobResult& result, std::string& out);

}  // namespace runtime
