#include "runtime/host/preload.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace runtime {
namespace {

// Of a resolved path: the first of its folders that others may not enter, or itself where they may
// not read it; empty: there is none.
std::string closed_to_others(const std::string& path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    struct stat about {};
    const bool is_folder = end != std::string::npos;
    if (::stat(part.c_str(), &about) < 0) return part;
    if ((about.st_mode & (is_folder ? S_IXOTH : S_IROTH)) == 0) return part;
    if (!is_folder) return "";
  }
}

}  // namespace

std::string objection_to_preload(const std::string& path, Reader reader) {
  // It parts LD_PRELOAD at the first two, and takes $ORIGIN and the like for names of its own.
  if (path.find_first_of(" :$") != std::string::npos)
    return path + " has a space, a colon or a $ in its path, which ld.so cannot preload";
  char resolved[PATH_MAX];
  if (!::realpath(path.c_str(), resolved) || ::access(resolved, R_OK) < 0)
    return path + ": " + ::strerror(errno);
  if (reader == Reader::kOurselves) return "";
  const std::string closed = closed_to_others(resolved);
  return closed.empty() ? "" : path + " cannot be read by jobs: " + closed + " is closed to them";
}

}  // namespace runtime
