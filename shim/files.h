#pragma once
// The files of a request, written into the working directory. Runs in the job's process, confined.

#include <string>

#include "shim/request.h"

namespace shim {

// A path that ends in a slash is a directory. 0, or an errno and the path in `failed`. EINVAL: not
// a relative path without "..".
int write_files(const Items& files, std::string& failed);

}  // namespace shim
