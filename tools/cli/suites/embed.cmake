# Makes a C++ source of the harness that the Python package has: cmake -DFOLDER=... -DOUTPUT=... -P embed.cmake
file(GLOB modules ${FOLDER}/*.py)
list(SORT modules)
set(entries "")
foreach(module IN LISTS modules)
  get_filename_component(name "${module}" NAME_WE)
  file(READ "${module}" text)
  string(APPEND entries "    {\"${name}\", R\"module(${text})module\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by embed.cmake from tools/python/zygo/grade/suites.
#include \"tools/cli/suites/harness.h\"

namespace cli {

std::span<const HarnessModule> harness_modules() {
  static constexpr HarnessModule kModules[] = {
${entries}  };
  return kModules;
}

}  // namespace cli
")
