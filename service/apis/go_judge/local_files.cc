#include "service/apis/go_judge/local_files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/sys/file.h"

namespace service {

using sys::Error;
using sys::Result;

Result<LocalFiles> LocalFiles::open(const std::string& root) {
  if (!root.starts_with('/')) return Error::because("\"" + root + "\" is not an absolute path");
  sys::OwnedFd directory = TRY(sys::open(root, O_PATH | O_DIRECTORY));
  return LocalFiles(root.ends_with('/') ? root : root + '/', std::move(directory));
}

Result<std::string> LocalFiles::read(const std::string& path, uint64_t most) const {
  if (!path.starts_with(root_)) return Error::because("file (" + path + ") is not under " + root_);
  open_how how{};
  how.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;  // a pipe must not keep us
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  sys::OwnedFd file(static_cast<int>(
      ::syscall(SYS_openat2, directory_.get(), path.c_str() + root_.size(), &how, sizeof how)));
  if (!file) return Error::from_errno("open " + path);
  struct stat about {};
  if (::fstat(file.get(), &about) < 0) return Error::from_errno("stat " + path);
  if (!S_ISREG(about.st_mode)) return Error::because(path + " is not a regular file");
  if (static_cast<uint64_t>(about.st_size) > most) return Error::because(path + " is too large");
  return sys::read_all(file.get(), most);
}

}  // namespace service
