#pragma once
// What may stand behind an option or for an argument, for completions.

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
