#include "images/tree/remove_tree.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "images/tree/directory_names.h"
#include "sandbox/sys/file.h"

namespace images {

using sys::Error;
using sys::Result;

// Recursion is as deep as the tree, which TreeLimits bounds.
Result<void> remove_tree(int directory, const std::string& name) {
  if (::unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return Error::from_errno("remove " + name);
  {
    const sys::OwnedFd inner =
        TRY(sys::open_at(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    for (const std::string& each : TRY(names_in(inner.get()))) {
      auto removed = remove_tree(inner.get(), each);
      if (!removed) return std::move(removed).error().context(name);
    }
  }
  if (::unlinkat(directory, name.c_str(), AT_REMOVEDIR) < 0 && errno != ENOENT)
    return Error::from_errno("remove directory " + name);
  return {};
}

}  // namespace images
