#pragma once
// Results out of JSON: the inverse of result_json. A result that is read is written as the same
// bytes again, whatever a program has put into it. What JSON does not tell has its default: times
// by the clock, a class without a name, the line of an exception, bytes below a KiB of memory and
// microseconds of a build.
//
// Bytes that are not UTF-8 have been written as U+FFFD. In an output that says `lossy` each U+FFFD
// is read as the byte FF, which is written so again; elsewhere it stays the character.
//
// Members that are not known are checked to be JSON and left out: the service adds some, and later
// versions may. What is known must be whole, and what is said twice (`ok` and `label`, milliseconds
// and microseconds, `tests` and `summary`, `bytes` and a file's content) must agree. Text comes
// from anyone; the values are those of a program, held to the rules of their format alone. Pure.

#include <cstddef>
#include <string_view>

#include "runtime/job/result.h"
#include "runtime/values/parts.h"
#include "sandbox/sys/result.h"

namespace runtime {

inline constexpr size_t kMaxResultBytes = size_t{1} << 30;  // of the text; parts come beside it

// An error begins with the path of the member: "usage.cpu_ms: expected 5, by cpu_us". `parts` came
// in front of the line.
sys::Result<JobResult> parse_result(std::string_view text, Parts parts = {});

}  // namespace runtime
