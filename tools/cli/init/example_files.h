#pragma once
// The files of examples/, inside the binary. Made by embed.cmake.

#include <span>
#include <string_view>

namespace cli {

struct ExampleFile {
  std::string_view path, text;  // "reward/reward.py", ...
};
std::span<const ExampleFile> example_files();

}  // namespace cli
