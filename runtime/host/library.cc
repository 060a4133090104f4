#include "runtime/host/library.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

namespace runtime {

using sys::Error;
using sys::Result;

namespace {

Result<std::string> own_directory() {
  char path[PATH_MAX];
  ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
  if (n < 0) return Error::from_errno("readlink /proc/self/exe");
  std::string self(path, static_cast<size_t>(n));
  return self.substr(0, self.rfind('/'));
}

}  // namespace

Result<std::string> library_directory() {
  const std::string library = TRY(own_directory()) + "/../lib/zygo";
  char resolved[PATH_MAX];
  if (!::realpath(library.c_str(), resolved))
    return Error::from_errno("zygo's parts are not in " + library +
                             " (cmake --install copies them with the program)");
  return std::string(resolved);
}

}  // namespace runtime
