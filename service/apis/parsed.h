#pragma once
// The parts that readers of foreign requests share. A request is a tree; values deeper than any
// valid request are left out, which bounds the depth of every walk.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "runtime/json/job/job_json.h"

namespace service {

// A tree takes some hundred bytes for a value that takes three of its text.
inline constexpr size_t kMostValues = 500'000;

// Discarded if the bytes are not JSON, or have more values than that.
nlohmann::json parsed(std::string_view body, int deepest = 4);

// The template of a program in "python": the service's default one, if that is one of Python's,
// because which modules are warm is the operator's choice.
inline std::string python_template(const runtime::JobDefaults& defaults) {
  const std::string& usual = defaults.job.template_name;
  return usual.starts_with("python") ? usual : "python";
}

}  // namespace service
