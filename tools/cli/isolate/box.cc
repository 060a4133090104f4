#include "tools/cli/isolate/box.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "images/store.h"
#include "sandbox/sys/file.h"

namespace cli {

using sys::Error;
using sys::Result;

namespace {

// Nobody else may put anything there.
Result<void> check_root(const std::string& root) {
  struct stat about {};
  if (::stat(root.c_str(), &about) < 0) return Error::from_errno(root);
  if (about.st_uid != ::geteuid() || (about.st_mode & 022) != 0)
    return Error::because(root + ": others may write there, or it is not yours");
  return {};
}

}  // namespace

Result<std::string> Box::default_root() { return TRY(images::Store::default_root()) + "/isolate"; }

Result<Box> Box::lock(const std::string& root, uint32_t number, bool wait) {
  std::error_code problem;
  std::filesystem::create_directories(root, problem);
  if (problem) return Error::from_errno("make " + root, problem.value());
  TRY(check_root(root));
  const std::string path = fmt::format("{}/{}", root, number);
  sys::OwnedFd lock = TRY(sys::open(path + ".lock", O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  while (::flock(lock.get(), LOCK_EX | (wait ? 0 : LOCK_NB)) < 0) {
    if (errno == EWOULDBLOCK)
      return Error::from_errno(fmt::format("box {} is in use by another process", number), EBUSY);
    if (errno != EINTR) return Error::from_errno("lock " + path);
  }
  return Box(path, std::move(lock));
}

Result<void> Box::make(const std::optional<BoxQuota>& quota) const {
  TRY(remove());
  if (::mkdir(path_.c_str(), 0755) < 0) return Error::from_errno("make " + path_);
  if (quota) {
    sys::OwnedFd file = TRY(sys::open(path_ + "/quota", O_WRONLY | O_CREAT | O_EXCL));
    TRY(sys::write_all(file.get(), fmt::format("{} {}\n", quota->kibibytes, quota->files)));
  }
  if (::mkdir(directory().c_str(), 0700) < 0) return Error::from_errno("make " + directory());
  return {};
}

Result<void> Box::remove() const {
  std::error_code problem;
  std::filesystem::remove_all(path_, problem);  // follows no links
  if (problem) return Error::from_errno("remove " + path_, problem.value());
  return {};
}

bool Box::exists() const {
  struct stat about {};
  return ::lstat(directory().c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

std::optional<BoxQuota> Box::quota() const {
  const Result<std::string> text = sys::read_file(path_ + "/quota", 64);
  BoxQuota quota;
  if (!text || std::sscanf(text->c_str(), "%lu %lu", &quota.kibibytes, &quota.files) != 2)
    return std::nullopt;
  return quota;
}

}  // namespace cli
