#pragma once
// How a job ended, in the words of Judge0. Pure.

#include <string_view>

#include "runtime/job/result.h"
#include "service/apis/judge0/submission.h"

namespace service::judge0 {

Ending ending_of(const runtime::JobResult& result, const Asked& asked);

// Nothing is known of the program.
Ending internal_error(std::string message);

// Blanks at the ends of lines and of the whole do not count.
bool is_as_expected(std::string_view out, std::string_view expected);

}  // namespace service::judge0
