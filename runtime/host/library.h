#pragma once
// Finds zygo's own parts.

#include <string>

#include "sandbox/sys/result.h"

namespace runtime {

// lib/zygo beside the directory of the program.
sys::Result<std::string> library_directory();

}  // namespace runtime
