# cmake -D OUTPUT=FILE.cc -D "PROFILES=a.policy;b.policy" -P embed.cmake
# Writes the profiles as raw strings into one source file: sandbox::embedded_profile().

set(cases "")
foreach(file IN LISTS PROFILES)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(FIND "${text}" ")policy\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${file}: contains the end of a raw string")
  endif()
  string(APPEND cases "  if (name == \"${name}\") return R\"policy(${text})policy\";\n")
endforeach()
file(WRITE ${OUTPUT} "// Written by sandbox/seccomp/profiles/embed.cmake from sandbox/seccomp/profiles/*.policy.
#include <optional>
#include <string_view>

namespace sandbox {

std::optional<std::string_view> embedded_profile(std::string_view name);

std::optional<std::string_view> embedded_profile(std::string_view name) {
${cases}  return std::nullopt;
}

}  // namespace sandbox
")
