#pragma once
// The Python code that runs in the cells of `zygo test`: the package's own (tools/python/zygo/grade
// /suites), embedded by the build. Makes the sources of the two cells of it. Pure.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/options.h"

namespace cli {

struct HarnessModule {
  std::string_view name, text;
};
std::span<const HarnessModule> harness_modules();  // made by embed.cmake

std::string program_side();

// `program` and `tests`: the paths of the files that the cells have.
struct SuitePlan {
  std::vector<std::string> program, tests;
  std::string framework;
  bool strict = false;
  sys::Milliseconds wall{0}, cpu{0};  // of the tests' cell
};
std::string tests_side(const SuitePlan& plan);

}  // namespace cli
