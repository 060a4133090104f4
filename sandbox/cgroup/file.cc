#include "sandbox/cgroup/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <vector>

#include "sandbox/sys/directory.h"
#include "sandbox/sys/file.h"

namespace sandbox {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

std::optional<uint64_t> leading_number(std::string_view text) {
  uint64_t value = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end == text.data()) return std::nullopt;
  return value;
}

// Large enough for every file we read: cpu.stat and memory.events stay below 400 bytes.
struct Snapshot {
  char bytes[1024];
  size_t size = 0;
  std::string_view text() const { return {bytes, size}; }
};

bool take(int fd, Snapshot& into) {
  ssize_t n = ::pread(fd, into.bytes, sizeof into.bytes, 0);
  if (n <= 0) return false;
  into.size = static_cast<size_t>(n);
  return true;
}

Result<OwnedFd> lock_directory(const std::string& path) {
  OwnedFd directory = TRY(sys::open(path, O_RDONLY | O_DIRECTORY));
  if (::flock(directory.get(), LOCK_EX | LOCK_NB) < 0) return Error::from_errno("lock " + path);
  return directory;
}

bool is_still_at(const OwnedFd& directory, const std::string& path) {
  struct stat held {
  }, named{};
  return ::fstat(directory.get(), &held) == 0 && ::stat(path.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

constexpr int kRemovalTries = 20, kRemovalTriesOfClaimed = 2000;
constexpr timespec kRemovalPause{.tv_sec = 0, .tv_nsec = 1'000'000};

}  // namespace

std::optional<uint64_t> field_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ' ') {
      return leading_number(line.substr(key.size() + 1));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::nullopt;
}

Result<ControlFile> ControlFile::open(const std::string& directory, const char* name, int flags) {
  ControlFile file;
  file.fd_ = TRY(sys::open(directory + "/" + name, flags));
  return file;
}

ControlFile ControlFile::open_if_any(const std::string& directory, const char* name, int flags) {
  Result<ControlFile> file = open(directory, name, flags);
  return file ? std::move(file).value() : ControlFile();
}

std::optional<uint64_t> ControlFile::number() const {
  Snapshot seen;
  if (!fd_ || !take(fd_.get(), seen)) return std::nullopt;
  return leading_number(seen.text());
}

std::optional<uint64_t> ControlFile::field(std::string_view key) const {
  Snapshot seen;
  if (!fd_ || !take(fd_.get(), seen)) return std::nullopt;
  return field_of(seen.text(), key);
}

int ControlFile::write(uint64_t value) const {
  char text[24];
  char* end = std::to_chars(text, text + sizeof text, value).ptr;
  ssize_t n = ::pwrite(fd_.get(), text, static_cast<size_t>(end - text), 0);
  return n < 0 ? errno : 0;
}

GroupDirectory::GroupDirectory(std::string path, Leftovers leftovers)
    : path_(std::move(path)), leftovers_(leftovers), owner_(::getpid()) {}

Result<GroupDirectory> GroupDirectory::create(std::string path, Leftovers leftovers) {
  if (::mkdir(path.c_str(), 0755) < 0) return Error::from_errno("mkdir " + path);
  return GroupDirectory(std::move(path), leftovers);
}

Result<GroupDirectory> GroupDirectory::claim(std::string path, Leftovers leftovers) {
  for (;;) {
    if (::mkdir(path.c_str(), 0755) < 0 && errno != EEXIST)
      return Error::from_errno("mkdir " + path);
    Result<OwnedFd> lock = lock_directory(path);
    if (!lock && lock.error().code() != ENOENT) return std::move(lock).error();
    // A sweeper may have removed it before it was locked: then the lock is on nothing.
    if (!lock || !is_still_at(*lock, path)) continue;
    GroupDirectory claimed(std::move(path), leftovers);
    claimed.lock_ = std::move(lock).value();
    return claimed;
  }
}

GroupDirectory GroupDirectory::adopt(std::string path, Leftovers leftovers) {
  return GroupDirectory(std::move(path), leftovers);
}

GroupDirectory& GroupDirectory::operator=(GroupDirectory&& other) noexcept {
  GroupDirectory old(std::move(*this));
  path_ = std::exchange(other.path_, {});
  leftovers_ = other.leftovers_;
  owner_ = other.owner_;
  lock_ = std::move(other.lock_);
  return *this;
}

GroupDirectory::~GroupDirectory() {
  if (!path_.empty() && owner_ == ::getpid()) (void)remove();
}

Result<void> GroupDirectory::remove() {
  const int most = lock_ ? kRemovalTriesOfClaimed : kRemovalTries;
  for (int attempt = 0;; ++attempt) {
    if (::rmdir(path_.c_str()) == 0 || errno == ENOENT) break;
    Result<void> removed = remove_group_tree(path_);
    if (removed || removed.error().code() == ENOENT) break;
    if (removed.error().code() != EBUSY || attempt == most) return removed;
    // Without cgroup.kill, the end of a cell's pid 1 took its whole pid namespace along, and only
    // the last steps of its exit are awaited.
    if (leftovers_ == Leftovers::kKilled) (void)sys::write_control(path_ + "/cgroup.kill", "1");
    ::nanosleep(&kRemovalPause, nullptr);
  }
  path_.clear();
  lock_.reset();
  return {};
}

Result<void> remove_group_tree(const std::string& path) {
  std::vector<std::string> children;
  {
    sys::OwnedDirectory directory(::opendir(path.c_str()));
    if (!directory) return Error::from_errno("open " + path);
    while (const dirent* entry = ::readdir(directory.get())) {
      std::string_view name = entry->d_name;
      if (entry->d_type == DT_DIR && name != "." && name != "..") children.emplace_back(name);
    }
  }
  for (std::string& child : children) TRY(remove_group_tree(child.insert(0, path + "/")));
  if (::rmdir(path.c_str()) < 0) return Error::from_errno("rmdir " + path);
  return {};
}

Result<void> remove_unclaimed(const std::string& path) {
  const OwnedFd lock = TRY(lock_directory(path));
  return remove_group_tree(path);
}

}  // namespace sandbox
