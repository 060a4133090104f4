#pragma once
// JSON Schemas of requests about sessions and of their answers, for the OpenAPI document. Pure.

#include <string>
#include <utility>
#include <vector>

namespace service {

// Names, and the schemas as JSON text. They refer to those of jobs and results.
std::vector<std::pair<std::string, std::string>> session_schemas();

}  // namespace service
