#pragma once
// The Python side of a kernel (prelude/*.py), embedded by the build, and the sources of steps that
// use it. Pure.

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

namespace service::jupyter {

struct PreludeModule {
  std::string_view name, text;
};
std::span<const PreludeModule> prelude_modules();  // made by embed.cmake

// The first step of a session. `word` is that of Markers.
std::string prelude_step(const std::string& word);
// A call of a function of prelude/run.py.
std::string prelude_call(std::string_view function, const nlohmann::json& request);

}  // namespace service::jupyter
