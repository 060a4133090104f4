#pragma once
// What an execution of code has led to, as E2B's code interpreter tells it: an object of JSON a
// line. Pure.

#include <string>
#include <string_view>

#include "runtime/job/result.h"

namespace service::e2b {

// Its output, what it has shown, and what ended it if that was no good end.
std::string records_of(const runtime::JobResult& result, std::string_view code);

std::string error_record(std::string_view name, std::string_view value,
                         std::string_view traceback = {});
std::string count_record(unsigned executions);

}  // namespace service::e2b
