#include "runtime/host/scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "sandbox/sys/file.h"

namespace runtime {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

constexpr const char* kPrefix = "zygo-scratch-";
constexpr size_t kLongestPlace = 80;  // a cell's path must fit into CellOrder::scratch_path

OwnedFd open_directory(int parent, const char* name) {
  return OwnedFd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// A directory of a daemon that is gone: its lock is free.
void remove_if_abandoned(int place, const char* name) {
  OwnedFd directory = open_directory(place, name);
  struct stat about {};
  if (!directory || ::fstat(directory.get(), &about) < 0 || about.st_uid != ::geteuid()) return;
  if (::flock(directory.get(), LOCK_EX | LOCK_NB) < 0) return;
  sandbox::wipe_directory(directory.get());
  ::unlinkat(place, name, AT_REMOVEDIR);
}

void remove_abandoned(const std::string& place) {
  DIR* entries = ::opendir(place.c_str());
  if (!entries) return;
  while (const dirent* entry = ::readdir(entries)) {
    if (std::strncmp(entry->d_name, kPrefix, std::strlen(kPrefix)) == 0) {
      remove_if_abandoned(::dirfd(entries), entry->d_name);
    }
  }
  ::closedir(entries);
}

// A walk of any depth with one descriptor: down by name, up by "..". A job that moves directories
// about meanwhile only ends the walk: each step up must arrive where the step down began.
class Walk {
 public:
  explicit Walk(uint64_t most) : most_(most) {}

  sandbox::Contents from(int root) {
    // A description of its own: the position of a shared one is the job's, too.
    here_ = open_directory(root, ".");
    while (here_ && seen_.entries < most_) {
      std::optional<std::string> down = read_on();
      if (!down && !go_up()) break;
      if (down) go_down(*down);
    }
    return seen_;
  }

 private:
  struct Above {
    dev_t device;
    ino_t inode;
    off_t position;  // of the entry after the one entered
  };

  // Counts entries from the current position up to the next directory, and gives its name.
  std::optional<std::string> read_on() {
    alignas(8) char buffer[4096];
    long size;
    while ((size = ::syscall(SYS_getdents64, here_.get(), buffer, sizeof buffer)) > 0) {
      for (long at = 0; at < size;) {
        // linux_dirent64: inode, offset of the next entry, length, type, name.
        const char* record = buffer + at;
        off_t next = *reinterpret_cast<const off_t*>(record + 8);
        at += *reinterpret_cast<const uint16_t*>(record + 16);
        const char* name = record + 19;
        if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
        if (!count(name)) continue;
        position_ = next;
        return name;
      }
    }
    return std::nullopt;
  }

  // True for a directory.
  bool count(const char* name) {
    struct stat about {};
    if (::fstatat(here_.get(), name, &about, AT_SYMLINK_NOFOLLOW) < 0) return false;
    ++seen_.entries;
    seen_.bytes += static_cast<uint64_t>(about.st_blocks) * 512;
    return S_ISDIR(about.st_mode);
  }

  void go_down(const std::string& name) {
    struct stat about {};
    OwnedFd child = open_directory(here_.get(), name.c_str());
    if (!child || ::fstat(here_.get(), &about) < 0) {
      ::lseek(here_.get(), position_, SEEK_SET);
      return;
    }
    above_.push_back({about.st_dev, about.st_ino, position_});
    here_ = std::move(child);
  }

  bool go_up() {
    if (above_.empty()) return false;
    here_ = open_directory(here_.get(), "..");
    struct stat about {};
    const Above& expected = above_.back();
    if (!here_ || ::fstat(here_.get(), &about) < 0 || about.st_dev != expected.device ||
        about.st_ino != expected.inode) {
      return false;
    }
    ::lseek(here_.get(), expected.position, SEEK_SET);
    above_.pop_back();
    return true;
  }

  uint64_t most_;
  sandbox::Contents seen_;
  OwnedFd here_;
  off_t position_ = 0;
  std::vector<Above> above_;
};

}  // namespace

Scratch::Scratch(Scratch&& other) noexcept { *this = std::move(other); }

Scratch& Scratch::operator=(Scratch&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}

Scratch::~Scratch() {
  if (!fd_) return;
  sandbox::wipe_directory(fd_.get());
  ::rmdir(path_.c_str());
}

sandbox::Contents Scratch::measure(uint64_t most_entries) const {
  return measure(fd_.get(), most_entries);
}

sandbox::Contents Scratch::measure(int directory, uint64_t most_entries) {
  return Walk(most_entries).from(directory);
}

Result<ScratchRoot> ScratchRoot::create() {
  const char* chosen = ::getenv("TMPDIR");
  std::string place = chosen && *chosen == '/' ? chosen : "/tmp";
  if (place.size() > kLongestPlace)
    return Error::because("TMPDIR " + place + " is too long a path for scratch directories");
  remove_abandoned(place);
  const std::string cure =
      "scratch directories in " + place +
      " (mount a writable directory or tmpfs there, or set TMPDIR to one that everybody may enter)";
  ScratchRoot root;
  while (!root.fd_) {
    root.path_ = place + "/" + kPrefix + "XXXXXX";
    if (!::mkdtemp(root.path_.data())) return Error::from_errno(cure);
    OwnedFd made = open_directory(AT_FDCWD, root.path_.c_str());
    struct stat about {};
    // Another daemon that starts just now may have taken it for abandoned: then it is gone.
    if (!made || ::flock(made.get(), LOCK_EX | LOCK_NB) < 0) continue;
    if (::fstat(made.get(), &about) < 0 || about.st_nlink == 0) continue;
    root.fd_ = std::move(made);
  }
  // Jobs of other ids walk through it to their own.
  if (::fchmod(root.fd_.get(), 0711) < 0) return Error::from_errno(cure);
  char resolved[PATH_MAX];
  if (::realpath(root.path_.c_str(), resolved)) root.path_ = resolved;
  return root;
}

ScratchRoot::~ScratchRoot() {
  if (!fd_) return;
  sandbox::wipe_directory(fd_.get());
  ::rmdir(path_.c_str());
}

Result<Scratch> ScratchRoot::make(uint64_t cell, std::optional<ScratchOwner> owner) const {
  const std::string name = "c" + std::to_string(cell);
  Scratch scratch;
  scratch.path_ = path_ + "/" + name;
  if (::mkdirat(fd_.get(), name.c_str(), 0700) < 0)
    return Error::from_errno("make " + scratch.path_);
  scratch.fd_ = open_directory(fd_.get(), name.c_str());
  if (!scratch.fd_) return Error::from_errno("open " + scratch.path_);
  if (!owner) return scratch;
  const bool shared = owner->init_id != owner->job_id;
  if (::fchown(scratch.fd_.get(), owner->init_id, owner->job_id) < 0 ||
      (shared && ::fchmod(scratch.fd_.get(), 01770) < 0)) {
    return Error::from_errno("give " + scratch.path_ + " to the cell");
  }
  return scratch;
}

}  // namespace runtime
