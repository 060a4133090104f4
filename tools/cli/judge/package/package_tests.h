#pragma once
// The tests of a package, and the groups of a scoring problem: the contents of data/sample and
// data/secret.

#include <string>
#include <vector>

#include "sandbox/sys/result.h"
#include "tools/cli/judge/package/folder.h"
#include "tools/cli/judge/package/package.h"

namespace cli {

// Fills `tests` and `groups`, by the settings that are there. The error names the file.
sys::Result<void> read_tests(const Folder& folder, Package& package);

// Each word once, however often it is given.
void add_once(const std::vector<std::string>& words, std::vector<std::string>& into);

}  // namespace cli
