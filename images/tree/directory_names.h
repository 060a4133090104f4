#pragma once
// The names in a directory, sorted by their bytes, without "." and "..".

#include <string>
#include <vector>

#include "sandbox/sys/result.h"

namespace images {

sys::Result<std::vector<std::string>> names_in(int directory);

}  // namespace images
