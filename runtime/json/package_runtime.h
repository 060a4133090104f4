#pragma once
// Packages of Piston as runtimes: a folder with `pkg-info.json` (or `metadata.json`), a script
// `run` and perhaps `compile`, and `.env` or `environment`. Bash runs the scripts in the sandbox,
// where the folder is seen at its own path; nothing of it is run elsewhere. languages/README.md
// says more.

#include <string>
#include <vector>

#include "runtime/builds/runtime_spec.h"
#include "sandbox/sys/result.h"

namespace runtime {

// The runtimes of one package, or of all packages of a tree LANGUAGE/VERSION. An error: a folder
// is no package, cannot be read, or lies where programs would not see it.
sys::Result<std::vector<RuntimeSpec>> load_packages(const std::string& directory);

// One language of the package in `folder`, of which `info` is what its file says. For the above and
// for tests.
sys::Result<std::vector<RuntimeSpec>> parse_package(const std::string& info,
                                                    const std::string& folder);

}  // namespace runtime
