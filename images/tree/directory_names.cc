#include "images/tree/directory_names.h"

#include <fcntl.h>

#include <algorithm>

#include "sandbox/sys/directory.h"
#include "sandbox/sys/file.h"

namespace images {

using sys::Error;
using sys::Result;

namespace {}  // namespace

Result<std::vector<std::string>> names_in(int directory) {
  // Opened anew: a duplicate would share the offset. O_PATH descriptors do as well.
  sys::OwnedFd own = TRY(sys::open_at(directory, ".", O_RDONLY | O_DIRECTORY));
  sys::OwnedDirectory stream(::fdopendir(own.get()));
  if (!stream) return Error::from_errno("fdopendir");
  static_cast<void>(own.release());
  std::vector<std::string> names;
  for (errno = 0; const dirent* entry = ::readdir(stream.get()); errno = 0) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  if (errno != 0) return Error::from_errno("read directory");
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace images
