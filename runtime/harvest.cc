#include "runtime/harvest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  for (size_t slash; (slash = path.find('/')) != path.npos; path.remove_prefix(slash + 1))
    parts.push_back(path.substr(0, slash));
  parts.push_back(path);
  return parts;
}

// Takes one element off the pattern: a character, `?` or `[..]`; an open bracket without its end is
// a character.
bool element_matches(std::string_view& pattern, char c) {
  const char first = pattern.front();
  pattern.remove_prefix(1);
  const size_t end = first == '[' ? pattern.find(']', 1) : pattern.npos;
  if (end == pattern.npos) return first == '?' || first == c;
  std::string_view set = pattern.substr(0, end);
  pattern.remove_prefix(end + 1);
  const bool inverted = set.front() == '!' || set.front() == '^';
  if (inverted) set.remove_prefix(1);
  bool found = false;
  for (size_t i = 0; i < set.size(); ++i) {
    const bool is_range = i + 2 < set.size() && set[i + 1] == '-';
    found |= is_range ? set[i] <= c && c <= set[i + 2] : set[i] == c;
    if (is_range) i += 2;
  }
  return found != inverted;
}

// Linear but for the last star: what an earlier one took need never be taken back.
bool part_matches(std::string_view pattern, std::string_view name) {
  std::string_view after_star, rest;  // where to go on when the star takes one more
  bool has_star = false;
  while (!name.empty()) {
    if (!pattern.empty() && pattern.front() == '*') {
      pattern.remove_prefix(1);
      after_star = pattern;
      rest = name;
      has_star = true;
    } else if (std::string_view next = pattern;
               !pattern.empty() && element_matches(next, name.front())) {
      pattern = next;
      name.remove_prefix(1);
    } else if (has_star) {
      pattern = after_star;
      rest.remove_prefix(1);
      name = rest;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*') == pattern.npos;
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

  // Behind a call that gave no descriptor.
  void note_lack() {
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) result_.lack = errno;
  }

 private:
  std::vector<std::string> names_in(int fd) {
    std::vector<std::string> names;
    sys::OwnedFd own(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    DIR* stream = own ? ::fdopendir(own.get()) : nullptr;
    if (stream) {
      static_cast<void>(own.release());  // closed with the stream
    } else {
      note_lack();
    }
    while (const dirent* item = stream ? ::readdir(stream) : nullptr) {
      const std::string_view name = item->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
      if (names.size() > kMostEntries) break;
    }
    if (stream) ::closedir(stream);
    std::sort(names.begin(), names.end());
    return names;
  }

  bool wanted_directory(const std::string& path) const {
    return std::any_of(globs_.begin(), globs_.end(), [&path](const std::string& glob) {
      return glob.ends_with('/') && glob_matches(glob, path + "/");
    });
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
      if (!below) note_lack();
      if (wanted_directory(path)) result_.files.push_back({path + "/", "", true});
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
    if (!file) note_lack();
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
  const std::vector<std::string_view> patterns = parts_of(glob), names = parts_of(path);
  // reached[j]: the patterns so far match the first j names.
  std::vector<bool> reached(names.size() + 1, false);
  reached[0] = true;
  for (const std::string_view pattern : patterns) {
    std::vector<bool> next(names.size() + 1, false);
    for (size_t j = 0; j <= names.size(); ++j) {
      if (pattern == "**") {
        next[j] = reached[j] || (j > 0 && next[j - 1]);
      } else if (j > 0) {
        next[j] = reached[j - 1] && part_matches(pattern, names[j - 1]);
      }
    }
    reached = std::move(next);
  }
  return reached.back();
}

Harvest harvest(int directory, const std::vector<std::string>& globs, sys::Bytes most,
                std::optional<uint32_t> owner) {
  sys::FileIdentity as_owner(owner);
  Walk walk(globs, most);
  sys::OwnedFd top(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!top) walk.note_lack();
  if (top) walk.directory(std::move(top), "", 0);
  return walk.take();
}

}  // namespace runtime
