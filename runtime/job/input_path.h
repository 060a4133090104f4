#pragma once
// The rules of paths of a job's files. Pure.

#include <string_view>

namespace runtime {

// The reason why a file of the working directory cannot have this path; null: it can.
const char* objection_to_path(std::string_view path);

}  // namespace runtime
