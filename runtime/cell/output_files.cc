#include "runtime/cell/output_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/loop/helpers.h"
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
bool element_matches(std::string_view& pattern, char c, uint64_t& steps) {
  const char first = pattern.front();
  pattern.remove_prefix(1);
  const size_t end = first == '[' ? pattern.find(']', 1) : pattern.npos;
  if (first == '[') steps += std::min(end, pattern.size());
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
bool part_matches(std::string_view pattern, std::string_view name, uint64_t& steps) {
  std::string_view after_star, rest;  // where to go on when the star takes one more
  bool has_star = false;
  for (++steps; !name.empty(); ++steps) {
    if (!pattern.empty() && pattern.front() == '*') {
      pattern.remove_prefix(1);
      after_star = pattern;
      rest = name;
      has_star = true;
    } else if (std::string_view next = pattern;
               !pattern.empty() && element_matches(next, name.front(), steps)) {
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

// All globs at once, taken apart once. They are matched with a path part by part, so that what
// lies in one directory shares the work on its way there, and nobody goes where none leads.
class Globs {
 public:
  // How far the globs have come: of which one, and which of its parts is next.
  struct Position {
    uint32_t glob = 0, part = 0;
  };
  using Positions = std::vector<Position>;

  explicit Globs(const std::vector<std::string>& globs) {
    for (const std::string& glob : globs) {
      std::vector<std::string_view>& parts = globs_.emplace_back();
      for (const std::string_view part : parts_of(glob)) {
        const bool again = part == "**" && !parts.empty() && parts.back() == "**";
        if (!again) parts.push_back(part);
      }
    }
  }

  Positions start() const {
    Positions all;
    for (uint32_t glob = 0; glob < globs_.size(); ++glob) add({glob, 0}, all);
    return all;
  }

  Positions beyond(const Positions& at, std::string_view name, uint64_t& steps) const {
    Positions next;
    for (const Position& position : at) {
      ++steps;
      if (ends(position)) continue;
      const std::string_view part = globs_[position.glob][position.part];
      if (part == "**") {
        add(position, next);
      } else if (part_matches(part, name, steps)) {
        add({position.glob, position.part + 1}, next);
      }
    }
    return next;
  }

  bool any_ends(const Positions& at) const {
    return std::any_of(at.begin(), at.end(), [this](const Position& each) { return ends(each); });
  }

  // Only globs that end in a slash, whose last part is empty.
  bool any_ends_with_slash(const Positions& at) const {
    return std::any_of(at.begin(), at.end(), [this](const Position& each) {
      const std::vector<std::string_view>& parts = globs_[each.glob];
      return each.part + 1 == parts.size() && parts.back().empty();
    });
  }

 private:
  bool ends(const Position& at) const { return at.part == globs_[at.glob].size(); }

  // In ascending order, so that what is there already is among the last. `**` may stand for
  // nothing.
  void add(Position at, Positions& to) const {
    const bool is_any = !ends(at) && globs_[at.glob][at.part] == "**";
    if (to.empty() || to.back().glob != at.glob || to.back().part < at.part) to.push_back(at);
    if (is_any) add({at.glob, at.part + 1}, to);
  }

  std::vector<std::vector<std::string_view>> globs_;
};

// The rest of the budget.
class Purse {
 public:
  explicit Purse(const OutputFilesBudget& budget) : budget_(budget), bytes_(budget.bytes.count) {}

  uint64_t& steps() { return steps_; }
  bool has_bytes(uint64_t count) const { return count <= bytes_; }
  void spend_bytes(uint64_t count) { bytes_ -= count; }

  // Asked once for each file. The clock is a system call.
  bool is_empty() {
    constexpr unsigned kSeldom = 64;
    const bool stopped = budget_.stop && budget_.stop->load(std::memory_order_relaxed);
    if (stopped || steps_ > budget_.steps) return true;
    if (budget_.cpu == sys::Nanoseconds::max() || asked_++ % kSeldom != 0) return false;
    return cpu_of_this_thread() - began_ > budget_.cpu;
  }

 private:
  const OutputFilesBudget& budget_;
  uint64_t bytes_, steps_ = 0;
  unsigned asked_ = 0;
  sys::Nanoseconds began_ = cpu_of_this_thread();
};

class Walk {
 public:
  Walk(const std::vector<std::string>& globs, const OutputFilesBudget& budget)
      : globs_(globs), purse_(budget) {}

  void from(sys::OwnedFd top) { directory(std::move(top), {"", globs_.start(), 0}); }

  OutputFiles take() { return std::move(result_); }

  // Behind a call that gave no descriptor.
  void note_lack() {
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) result_.lack = errno;
  }

 private:
  struct Place {
    std::string path;  // ends in a slash, unless it is the top
    Globs::Positions globs;
    unsigned depth;
  };

  void directory(sys::OwnedFd fd, const Place& place) {
    for (const std::string& name : names_in(fd.get())) {
      if (ended_) return;
      const std::string path = place.path + name;
      if (++entries_ > kMostEntries) return end(path, "too many files");
      if (purse_.is_empty())
        return end(path, "the globs and files are more work than one job's outputs may be");
      const Globs::Positions beyond = globs_.beyond(place.globs, name, purse_.steps());
      if (!beyond.empty()) entry(fd.get(), name, {path, beyond, place.depth});
    }
  }

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
      if (names.size() > kMostEntries - std::min(entries_, kMostEntries)) break;
    }
    if (stream) ::closedir(stream);
    std::sort(names.begin(), names.end());
    return names;
  }

  // `at` is the entry itself.
  void entry(int parent, const std::string& name, Place at) {
    struct stat about {};
    if (::fstatat(parent, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) < 0) return;
    const bool wanted = globs_.any_ends(at.globs);
    if (S_ISDIR(about.st_mode)) return down(parent, name, std::move(at), wanted);
    if (!wanted) return;
    if (!S_ISREG(about.st_mode)) return refuse(at.path, kind_of(about.st_mode));
    read(parent, name, at.path, about);
  }

  void down(int parent, const std::string& name, Place at, bool wanted) {
    sys::OwnedFd below(
        ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!below) note_lack();
    if (globs_.any_ends_with_slash(at.globs)) result_.files.push_back({at.path + "/", "", true});
    if (below && at.depth < kDeepest) {
      at.path += '/';
      ++at.depth;
      return directory(std::move(below), at);
    }
    if (wanted) refuse(at.path, below ? "nested too deeply" : "an unreadable directory");
  }

  void read(int parent, const std::string& name, const std::string& path,
            const struct stat& about) {
    const auto size = static_cast<uint64_t>(about.st_size);
    if (!purse_.has_bytes(size))
      return refuse(path, "larger than what is left of the limit of outputs");
    sys::OwnedFd file(
        ::openat(parent, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file) note_lack();
    if (!file) return refuse(path, "unreadable");
    sys::Result<std::string> content = sys::read_all(file.get(), size + 1);
    if (!content || content->size() != size) return refuse(path, "unreadable");
    purse_.spend_bytes(size);
    result_.files.push_back({path, std::move(*content), (about.st_mode & 0111) != 0});
  }

  void refuse(const std::string& path, const char* why) {
    if (result_.refused.size() < kMostRefused) result_.refused.push_back({path, why});
  }

  // There may be more, which nobody looks for: said in place of another, if it must be.
  void end(const std::string& path, const char* why) {
    ended_ = true;
    if (result_.refused.size() == kMostRefused) result_.refused.pop_back();
    refuse(path, why);
  }

  Globs globs_;
  Purse purse_;
  size_t entries_ = 0;
  bool ended_ = false;
  OutputFiles result_;
};

}  // namespace

bool glob_matches(std::string_view glob, std::string_view path) {
  const std::vector<std::string> one = {std::string(glob)};
  const Globs globs(one);
  uint64_t steps = 0;
  Globs::Positions at = globs.start();
  for (const std::string_view name : parts_of(path)) at = globs.beyond(at, name, steps);
  return globs.any_ends(at);
}

OutputFiles collect_outputs(int directory, const std::vector<std::string>& globs,
                            const OutputFilesBudget& budget, std::optional<uint32_t> owner) {
  sys::FileIdentity as_owner(owner);
  Walk walk(globs, budget);
  sys::OwnedFd top(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!top) walk.note_lack();
  if (top) walk.from(std::move(top));
  return walk.take();
}

}  // namespace runtime
