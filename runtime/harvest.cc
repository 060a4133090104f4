#include "runtime/harvest.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/file.h"
#include "sandbox/sys/identity.h"

namespace runtime {
namespace {

constexpr unsigned kDeepest = 64;
constexpr size_t kMostEntries = 65536;
constexpr size_t kMostRefused = 100;

const char* kind_of(mode_t mode) {
  if (S_ISLNK(mode)) return "a symbolic link";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return S_ISREG(mode) ? "" : "a device";
}

class Walk {
 public:
  Walk(const std::vector<std::string>& globs, sys::Bytes most) : globs_(globs), left_(most.count) {}

  void directory(sys::OwnedFd fd, const std::string& prefix, unsigned depth) {
    const std::vector<std::string> names = names_in(fd.get());
    for (const std::string& name : names) {
      if (++entries_ > kMostEntries) return refuse(prefix + name, "too many files");
      entry(fd.get(), name, prefix + name, depth);
    }
  }

  Harvest take() { return std::move(result_); }

 private:
  static std::vector<std::string> names_in(int fd) {
    std::vector<std::string> names;
    DIR* stream = ::fdopendir(::dup(fd));
    while (const dirent* item = stream ? ::readdir(stream) : nullptr) {
      const std::string_view name = item->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
      if (names.size() > kMostEntries) break;
    }
    if (stream) ::closedir(stream);
    std::sort(names.begin(), names.end());
    return names;
  }

  bool wanted(const std::string& path) const {
    return std::any_of(globs_.begin(), globs_.end(),
                       [&path](const std::string& glob) { return glob_matches(glob, path); });
  }

  void entry(int parent, const std::string& name, const std::string& path, unsigned depth) {
    struct stat about {};
    if (::fstatat(parent, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) < 0) return;
    if (S_ISDIR(about.st_mode)) {
      sys::OwnedFd below(
          ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (below && depth < kDeepest) return directory(std::move(below), path + "/", depth + 1);
      if (wanted(path)) refuse(path, below ? "nested too deeply" : "an unreadable directory");
      return;
    }
    if (!wanted(path)) return;
    if (!S_ISREG(about.st_mode)) return refuse(path, kind_of(about.st_mode));
    read(parent, name, path, about);
  }

  void read(int parent, const std::string& name, const std::string& path,
            const struct stat& about) {
    const auto size = static_cast<uint64_t>(about.st_size);
    if (size > left_) return refuse(path, "larger than what is left of the limit of outputs");
    sys::OwnedFd file(
        ::openat(parent, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file) return refuse(path, "unreadable");
    sys::Result<std::string> content = sys::read_all(file.get(), size + 1);
    if (!content || content->size() != size) return refuse(path, "unreadable");
    left_ -= size;
    result_.files.push_back({path, std::move(*content), (about.st_mode & 0111) != 0});
  }

  void refuse(const std::string& path, const char* why) {
    if (result_.refused.size() < kMostRefused) result_.refused.push_back({path, why});
  }

  const std::vector<std::string>& globs_;
  uint64_t left_;
  size_t entries_ = 0;
  Harvest result_;
};

}  // namespace

bool glob_matches(std::string_view glob, std::string_view path) {
  const size_t part = std::min(glob.find('/'), glob.size());
  const std::string_view head = glob.substr(0, part);
  const std::string_view tail = glob.substr(std::min(part + 1, glob.size()));
  const bool last = part == glob.size();
  const size_t slash = std::min(path.find('/'), path.size());
  if (head == "**") {
    if (last) return true;
    for (std::string_view rest = path;;) {
      if (glob_matches(tail, rest)) return true;
      const size_t next = rest.find('/');
      if (next == rest.npos) return false;
      rest.remove_prefix(next + 1);
    }
  }
  const std::string pattern(head), name(path.substr(0, slash));
  if (::fnmatch(pattern.c_str(), name.c_str(), 0) != 0) return false;
  if (last || slash == path.size()) return last && slash == path.size();
  return glob_matches(tail, path.substr(slash + 1));
}

Harvest harvest(int directory, const std::vector<std::string>& globs, sys::Bytes most,
                std::optional<uint32_t> owner) {
  sys::FileIdentity as_owner(owner);
  Walk walk(globs, most);
  sys::OwnedFd top(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (top) walk.directory(std::move(top), "", 0);
  return walk.take();
}

}  // namespace runtime
