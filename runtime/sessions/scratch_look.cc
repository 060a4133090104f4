#include "runtime/sessions/scratch_look.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "sandbox/sys/directory.h"

namespace runtime {

using shim::state::EntryKind;
using sys::Result;

namespace {

constexpr unsigned kDeepest = 128;
constexpr uint64_t kMostNameBytes = uint64_t{16}
                                    << 20;  // of all paths, each of which we have thrice
constexpr uint64_t kPieceBytes = uint64_t{256} << 10;

// Never out of the scratch: a program that went on after all could put a link in a folder's place.
Result<sys::OwnedFd> open_beneath(int root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  sys::OwnedFd fd(static_cast<int>(
      ::syscall(SYS_openat2, root, path.empty() ? "." : path.c_str(), &how, sizeof how)));
  if (!fd) return sys::Error::from_errno("read a scratch");
  return fd;
}

class Look {
 public:
  Look(int root, const ScratchBounds& bounds, ScratchLook& look)
      : root_(root), bounds_(bounds), look_(look) {}

  Result<void> all() {
    struct stat status {};
    if (::fstat(root_, &status) < 0) return sys::Error::from_errno("look at a scratch");
    look_.path_of.emplace(FileNumber{status.st_dev, status.st_ino}, "");
    return directory("", 0);
  }

 private:
  Result<void> directory(const std::string& path, unsigned depth) {
    if (depth > kDeepest)
      return cannot("folders of more than " + std::to_string(kDeepest) + " levels");
    sys::OwnedFd fd = TRY(open_beneath(root_, path, O_RDONLY | O_DIRECTORY));
    sys::OwnedDirectory stream(::fdopendir(fd.get()));
    if (!stream) return sys::Error::from_errno("read a folder of a scratch");
    (void)fd.release();
    std::vector<std::string> names;
    while (const dirent* each = ::readdir(stream.get())) {
      const std::string_view name = each->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
      if (look_.entries.size() + names.size() > bounds_.entries) return cannot("too many files");
    }
    std::sort(names.begin(), names.end());  // a node is the same whatever order a folder has
    for (const std::string& name : names) {
      TRY(entry(::dirfd(stream.get()), name, path.empty() ? name : path + "/" + name, depth));
      if (!look_.cannot.empty()) return {};
    }
    return {};
  }

  Result<void> entry(int parent, const std::string& name, const std::string& path, unsigned depth) {
    struct stat status {};
    if (::fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0)
      return sys::Error::from_errno("look at a file of a scratch");
    ScratchEntry found;
    found.path = path;
    found.mode = status.st_mode & 07777;
    found.seconds = status.st_mtim.tv_sec;
    found.nanoseconds = status.st_mtim.tv_nsec;
    const auto [first, is_new] =
        look_.path_of.emplace(FileNumber{status.st_dev, status.st_ino}, path);
    if (look_.entries.size() >= bounds_.entries) return cannot("too many files");
    if (path.size() >= PATH_MAX) return cannot("a path of more than 4095 bytes");
    name_bytes_ += path.size();
    if (name_bytes_ > kMostNameBytes) return cannot("names that are too long");
    if (bounds_.give_up()) return cannot(kTakesTooLong);
    if (S_ISDIR(status.st_mode)) {
      found.kind = EntryKind::kDirectory;
      look_.entries.push_back(std::move(found));
      return directory(path, depth + 1);
    }
    if (!is_new) {
      found.kind = EntryKind::kHardLink;
      found.target = first->second;
    } else if (S_ISLNK(status.st_mode)) {
      found.kind = EntryKind::kSymbolicLink;
      found.target = TRY(target_of(parent, name, status.st_size));
    } else if (S_ISREG(status.st_mode)) {
      found.size = static_cast<uint64_t>(status.st_size);
      look_.bytes += found.size;
      if (found.size > bounds_.bytes || look_.bytes > bounds_.bytes) return cannot("large files");
    } else {
      return cannot(S_ISFIFO(status.st_mode) ? "a named pipe" : "a special file");
    }
    look_.entries.push_back(std::move(found));
    return {};
  }

  static Result<std::string> target_of(int parent, const std::string& name, off_t size) {
    std::string target(static_cast<size_t>(size) + 1, '\0');
    const ssize_t length = ::readlinkat(parent, name.c_str(), target.data(), target.size());
    if (length < 0) return sys::Error::from_errno("read a link of a scratch");
    target.resize(static_cast<size_t>(length));
    return target;
  }

  Result<void> cannot(std::string what) {
    look_.cannot = std::move(what);
    return {};
  }

  int root_;
  uint64_t name_bytes_ = 0;
  const ScratchBounds& bounds_;
  ScratchLook& look_;
};

}  // namespace

FileNumber number_of_file(const struct stat& status) {
  return S_ISCHR(status.st_mode) ? FileNumber{0, status.st_rdev}
                                 : FileNumber{status.st_dev, status.st_ino};
}

FileNumber number_of_file(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 ? number_of_file(status) : FileNumber{};
}

Result<ScratchLook> look_at_scratch(int directory, const ScratchBounds& bounds) {
  ScratchLook look;
  TRY(Look(directory, bounds, look).all());
  return look;
}

Result<void> read_content(int directory, const ScratchEntry& entry,
                          const std::function<Result<void>(std::string_view)>& take) {
  const sys::OwnedFd file = TRY(open_beneath(directory, entry.path, O_RDONLY));
  std::vector<char> piece(std::min(entry.size, kPieceBytes));
  for (uint64_t got = 0; got < entry.size;) {
    const size_t wanted = std::min<uint64_t>(entry.size - got, piece.size());
    const ssize_t n = ::pread(file.get(), piece.data(), wanted, static_cast<off_t>(got));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return sys::Error::from_errno("read a file of a scratch", n < 0 ? errno : EIO);
    TRY(take({piece.data(), static_cast<size_t>(n)}));
    got += static_cast<uint64_t>(n);
  }
  return {};
}

}  // namespace runtime
