#pragma once
// Where zygo's own parts are.

#include <string>

#include "sandbox/sys/result.h"

namespace runtime {

// lib/zygo beside the directory of the program.
sys::Result<std::string> library_directory();

}  // namespace runtime
