#pragma once
// Runtimes from JSON files (languages/README.md). Strict: what is not known is an error.

#include <string>
#include <string_view>
#include <vector>

#include "runtime/builds/runtime_spec.h"
#include "sandbox/sys/result.h"

namespace runtime {

// The runtime of a file, and behind it its variants. An error names the file and the field.
sys::Result<std::vector<RuntimeSpec>> parse_runtimes(std::string_view json,
                                                     const std::string& where);

// Every *.json of a directory, by name. Two runtimes that go by one word are an error.
sys::Result<std::vector<RuntimeSpec>> load_runtimes(const std::string& directory);

// The compile limits of a runtime that says nothing else.
Limits usual_compile_limits();

}  // namespace runtime
