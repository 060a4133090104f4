#pragma once
// The configuration of an image for the start of its programs: the part of an OCI configuration
// that zygo keeps, or that of a packed Python environment. Plain values; a root file system without
// a configuration has all of them empty.

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace images {

// A Python environment without the host's /usr, on which it may rest.
struct PythonEnvironment {
  std::string interpreter;                         // absolute path, as jobs see it
  std::map<std::string, std::string> directories;  // where jobs see them: where the image has them
  std::map<std::string, std::string> needs;        // paths of the host: what they must resolve to
  bool operator==(const PythonEnvironment&) const = default;
};

struct ImageConfig {
  std::vector<std::string> environment;  // NAME=value
  std::string working_directory;         // absolute, or empty
  std::string user;                      // as the image has it: "1000", "app:app"
  std::vector<std::string> entrypoint, command;
  std::optional<PythonEnvironment> python;  // then nothing above is set
  bool operator==(const ImageConfig&) const = default;
};

}  // namespace images
