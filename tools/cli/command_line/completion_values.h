#pragma once
// The possible values of options and arguments, for completions.

#include <string>
#include <vector>

namespace CLI {
class Option;
}

namespace cli {

struct Values {
  bool files = false;
  std::vector<std::string> words;  // empty, and no files: anything
};

Values values_of(const CLI::Option& option);

}  // namespace cli
