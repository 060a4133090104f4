#pragma once
// `zygo isolate`, or zygo called by the name isolate: the command line of isolate(1), for clients
// that know no other. docs/isolate.md says what differs.

#include <string>
#include <vector>

#include "tools/cli/engine_setup.h"

namespace cli {

// The words behind the name, if argv asks for it.
std::optional<std::vector<std::string>> isolate_arguments(int argc, char** argv);

// The exit code: 0 the program ended well (or the box is made, or gone), 1 it did not, 2 trouble of
// our own.
int isolate_command(const std::vector<std::string>& arguments, const Parts& parts);

}  // namespace cli
