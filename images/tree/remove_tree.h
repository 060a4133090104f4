#pragma once
// Removes a file or a whole directory, by descriptors, following no symbolic link.

#include <string>

#include "sandbox/sys/result.h"

namespace images {

// `name` in `directory`. Not an error when it is not there.
sys::Result<void> remove_tree(int directory, const std::string& name);

}  // namespace images
