#pragma once
// The Python side of a kernel (prelude/*.py), embedded by the build, and the sources of steps that
// use it. Pure.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

namespace service::jupyter {

struct PreludeModule {
  std::string_view name, text;
};
std::span<const PreludeModule> prelude_modules();  // made by embed.cmake

// Types of JSON that tell what a value is, beside how it looks.
inline constexpr std::string_view kChart = "application/vnd.zygo.chart+json";  // E2B's charts
inline constexpr std::string_view kData = "application/vnd.zygo.data+json";    // columns by name

// The first step of a session. `word` is that of Markers.
enum class Host : uint8_t {
  kNotebook,     // has the magics of the tree
  kInterpreter,  // is told kChart and kData as well
};
std::string prelude_step(const std::string& word, Host host);
// A call of a function of prelude/run.py.
std::string prelude_call(std::string_view function, const nlohmann::json& request);

}  // namespace service::jupyter
