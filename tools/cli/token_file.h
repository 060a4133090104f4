#pragma once

#include <string>

#include "sandbox/sys/result.h"

namespace cli {

// The token that a file holds, and nothing else; empty for an empty path. An error names the file.
sys::Result<std::string> read_token_file(const std::string& path);

}  // namespace cli
