#pragma once
// What an image says of how its programs are meant to be started: the part of an OCI configuration
// that zygo keeps. Plain values; a root file system without a configuration has all of them empty.

#include <string>
#include <vector>

namespace images {

struct ImageConfig {
  std::vector<std::string> environment;  // NAME=value
  std::string working_directory;         // absolute, or empty
  std::string user;                      // as the image has it: "1000", "app:app"
  std::vector<std::string> entrypoint, command;
  bool operator==(const ImageConfig&) const = default;
};

}  // namespace images
