#include "runtime/builds/bounded_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>

#include "images/sha256.h"
#include "sandbox/sys/file.h"

namespace runtime {

using sys::Error;
using sys::Result;

namespace {

// The directory of one store, 0700: contents belong to who has put them. That of all stores is
// 0711, as images/store makes it.
Result<void> make_directory(const std::string& path) {
  std::error_code problem;
  const std::filesystem::path home = std::filesystem::path(path).parent_path();
  std::filesystem::create_directories(home.parent_path(), problem);
  if (problem) return Error::from_errno("make " + path, problem.value());
  if (::mkdir(home.c_str(), 0711) < 0 && errno != EEXIST) return Error::from_errno("make " + path);
  if (::mkdir(path.c_str(), 0700) < 0 && errno != EEXIST) return Error::from_errno("make " + path);
  return {};
}

int64_t nanoseconds(const timespec& t) { return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; }

}  // namespace

Result<void> BoundedFiles::make_folder() const { return make_directory(root_); }

Result<void> BoundedFiles::put(const std::string& name, std::string_view bytes,
                               Survives survives) const {
  if (bytes.size() > capacity_.count)
    return Error::because(std::to_string(bytes.size()) + " bytes are more than the whole store");
  if (touch(name)) return {};
  TRY(make_directory(root_));
  TRY(make_room(name, bytes.size()));
  const std::string path = path_of(name);
  // Without a name until it is complete.
  sys::OwnedFd file = TRY(sys::open(root_, O_TMPFILE | O_RDWR, 0600));
  TRY(sys::write_all(file.get(), bytes));
  if (survives == Survives::kPowerLoss && ::fsync(file.get()) < 0)
    return Error::from_errno("write " + path);
  const std::string unnamed = "/proc/self/fd/" + std::to_string(file.get());
  if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) < 0 &&
      errno != EEXIST)
    return Error::from_errno("name " + path);
  return {};
}

bool BoundedFiles::touch(const std::string& name) const {
  return ::utimensat(AT_FDCWD, path_of(name).c_str(), nullptr, AT_SYMLINK_NOFOLLOW) == 0;
}

Result<std::vector<KeptFile>> BoundedFiles::list() const {
  std::vector<KeptFile> files;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(root_, problem)) {
    const std::string name = entry.path().filename().string();
    struct stat info {};
    if (!images::is_sha256("sha256:" + name) || ::lstat(entry.path().c_str(), &info) < 0) continue;
    files.push_back({name, static_cast<uint64_t>(info.st_size), nanoseconds(info.st_mtim)});
  }
  if (problem && problem.value() != ENOENT)
    return Error::from_errno("read " + root_, problem.value());
  std::sort(files.begin(), files.end(),
            [](const KeptFile& a, const KeptFile& b) { return a.used_ns > b.used_ns; });
  return files;
}

Result<void> BoundedFiles::remove(const std::string& name) const {
  if (::unlink(path_of(name).c_str()) == 0) return {};
  return Error::from_errno("remove " + path_of(name));
}

std::string BoundedFiles::owner_of(const std::string& name) const {
  return owners_ == Owners::kOne ? std::string() : name.substr(0, kOwnerDigits);
}

Result<void> BoundedFiles::make_room(const std::string& name, uint64_t bytes) const {
  std::vector<KeptFile> files = TRY(list());
  std::map<std::string, uint64_t> held = {{owner_of(name), bytes}};
  uint64_t all = bytes;
  for (const KeptFile& file : files) {
    held[owner_of(file.name)] += file.bytes;
    all += file.bytes;
  }
  const auto holds_less = [](const auto& a, const auto& b) { return a.second < b.second; };
  while (all > capacity_.count && !files.empty()) {
    const std::string owner = std::max_element(held.begin(), held.end(), holds_less)->first;
    auto oldest = std::find_if(files.rbegin(), files.rend(), [this, &owner](const KeptFile& file) {
      return owner_of(file.name) == owner;
    });
    if (oldest == files.rend()) oldest = files.rbegin();  // all that this owner has is the new one
    all -= oldest->bytes;
    held[owner_of(oldest->name)] -= oldest->bytes;
    if (auto removed = remove(oldest->name); !removed && removed.error().code() != ENOENT)
      return std::move(removed).error().context("make room in " + root_);
    files.erase(std::next(oldest).base());
  }
  return {};
}

}  // namespace runtime
