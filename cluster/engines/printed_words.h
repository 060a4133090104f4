#pragma once
// The words of a `zygo pilot` command line, and how each engine's files quote them. Used by what
// prints such files, and by nothing else. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "cluster/engines/print.h"

namespace cluster {

// Where a pilot finds the files that it was given.
struct PilotFiles {
  std::string token, ca, certificate, key;
  std::vector<NamedFile> others;
};
PilotFiles files_of(const PrintOptions& options);                     // as the options name them
PilotFiles files_in(const std::string& folder, const PrintOptions&);  // by their last names
std::vector<std::string> paths_of(const PrintOptions& options);       // of all of them, here

// "pilot", "--join", URL, ...: what follows the name of the program.
std::vector<std::string> pilot_words(const PrintOptions& options, const PilotFiles& files);

std::string shell_word(std::string_view word);
std::string shell_line(const std::vector<std::string>& words);
std::string last_name(std::string_view path);

std::string print_kubernetes(const PrintOptions& options);
std::string print_ssh(const PrintOptions& options);

}  // namespace cluster
