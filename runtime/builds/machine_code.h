#pragma once
// Which templates make machine code while a program runs: the filter of their cells must let them
// (FilterVariant::makes_code). Runtimes say so in their files; a Python environment does by the
// packages in it. And how such code is loaded.

#include <string>

#include "sandbox/mounts/mounts.h"

namespace runtime {

// Tells whether a package that compiles (numba's llvmlite, torch, ...) is installed where the
// interpreter `python`, below `root`, looks: beside it, in the usual places, and in the directories
// of `plan`. Looks at names only.
bool has_compiling_package(const sandbox::ImagePlan& plan, const std::string& python,
                           const std::string& root);

// Tells whether an executable has others loaded with it, the C library among them. What is no
// executable of ours (a script) counts as one that has. Borrows the descriptor.
bool is_dynamic_program(int fd);

}  // namespace runtime
