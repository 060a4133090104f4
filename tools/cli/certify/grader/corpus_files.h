#pragma once
// The files of tasks/, variants/ and exploits/, inside the binary. Made by embed.cmake.

#include <span>
#include <string_view>

namespace cli {

struct GraderFile {
  std::string_view folder, name, text;  // "exploits", "exit_zero", ...
};
std::span<const GraderFile> grader_files();

}  // namespace cli
