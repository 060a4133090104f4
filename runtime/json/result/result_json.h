#pragma once
// A result as one line of JSON: the object that every front end gives back. Plain appending;
// whatever the program wrote is repaired to UTF-8 and escaped, so the line is always one line of
// valid JSON.

#include <string>
#include <string_view>
#include <vector>

#include "runtime/job/result.h"

namespace runtime {

// The bytes of its value that can leave as parts (values/parts.h).
size_t bytes_in_parts(const JobResult& result);
// At most so many bytes the object will have, `raw` of its value being in parts beside it: a quick
// look, which writes nothing.
size_t most_bytes_of(const JobResult& result, size_t raw = 0);

// Appends the object, without a newline behind it.
void append_result(const JobResult& result, std::string& out);
// The same, but long bytes of its value are put into `parts`, as views of it (values/parts.h).
void append_result(const JobResult& result, std::string& out, std::vector<std::string_view>* parts);

}  // namespace runtime
