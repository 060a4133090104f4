#include "images/tree/tree_writer.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "images/tree/directory_names.h"
#include "images/tree/remove_tree.h"
#include "sandbox/sys/file.h"

namespace images {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

constexpr int kStep = O_PATH | O_DIRECTORY | O_NOFOLLOW;
constexpr unsigned kMostLinks = 40;  // in one path, as the kernel has it: path_resolution(7)

std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

// Where the link at `path` leads; empty: there is none. No link is followed on the way (openat2,
// Linux 5.6): with O_PATH and O_NOFOLLOW the last component may be one.
std::string link_at(int root, const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  const OwnedFd link(
      static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
  char target[PATH_MAX];
  const ssize_t n = link ? ::readlinkat(link.get(), "", target, sizeof target) : -1;
  return n > 0 ? std::string(target, static_cast<size_t>(n)) : "";
}

std::string below(const std::string& directory, std::string_view name) {
  return directory.empty() ? std::string(name) : directory + "/" + std::string(name);
}

// The reason why a component of a path is no directory that one may go into.
Error obstacle(int directory, const std::string& name, const std::string& path) {
  struct stat info {};
  if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) < 0)
    return Error::from_errno("/" + path);
  return Error::because("its path leads through /" + path +
                        (S_ISLNK(info.st_mode) ? ", a symbolic link" : ", which is no directory"));
}

}  // namespace

Result<std::string> TreeWriter::path_of(std::string_view name) const {
  if (name.empty()) return Error::because("it has no name");
  if (name.front() == '/') return Error::because("its path is absolute");
  if (name.find('\0') != std::string_view::npos) return Error::because("its path holds a NUL");
  std::string path;
  size_t depth = 0;
  while (!name.empty()) {
    const size_t end = std::min(name.find('/'), name.size());
    const std::string_view component = name.substr(0, end);
    name.remove_prefix(std::min(end + 1, name.size()));
    if (component.empty() || component == ".") continue;
    if (component == "..") return Error::because("its path leaves the root by \"..\"");
    if (component.size() > NAME_MAX) {
      return Error::because("a name in its path has more than " + std::to_string(NAME_MAX) +
                            " bytes");
    }
    path += (path.empty() ? "" : "/") + std::string(component);
    ++depth;
  }
  if (path.size() > limits_.path) {
    return Error::because("its path has more than " + std::to_string(limits_.path) + " bytes");
  }
  if (depth > limits_.depth) {
    return Error::because("it is nested in more than " + std::to_string(limits_.depth) +
                          " directories");
  }
  return path;
}

Result<void> TreeWriter::admit(uint64_t bytes) {
  if (tally_.entries >= limits_.entries) {
    return Error::because("there are more than " + std::to_string(limits_.entries) + " members");
  }
  if (bytes > limits_.total.count - tally_.bytes) {
    return Error::because("unpacked it all has more than " + std::to_string(limits_.total.count) +
                          " bytes");
  }
  ++tally_.entries;
  tally_.bytes += bytes;
  return {};
}

Result<void> TreeWriter::step_into(OwnedFd& at, const std::string& path, size_t begin, size_t end,
                                   Missing missing) {
  const int from = at ? at.get() : root_.get();
  const std::string name = path.substr(begin, end - begin);
  const std::string so_far = path.substr(0, end);
  int next = ::openat(from, name.c_str(), kStep | O_CLOEXEC);
  if (next < 0 && errno == ENOENT && missing == Missing::kMake) {
    if (::mkdirat(from, name.c_str(), 0755) < 0) return Error::from_errno("mkdir /" + so_far);
    if (::fchmodat(from, name.c_str(), 0755, 0) < 0) return Error::from_errno("chmod /" + so_far);
    next = ::openat(from, name.c_str(), kStep | O_CLOEXEC);
  }
  if (next < 0) {
    if (errno == ENOTDIR || errno == ELOOP) return obstacle(from, name, so_far);
    return Error::from_errno("/" + so_far);
  }
  at = OwnedFd(next);
  return {};
}

// Where an upper layer's path to a directory leads inside of the root. Only text: whoever uses it
// goes there step by step, so a link of the archive's own, which stays in it, is met there.
Result<std::string> TreeWriter::without_links(const std::string& directory) const {
  if (!layered_) return directory;
  std::string resolved, rest = directory;
  unsigned links = 0;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('/'), rest.size());
    const std::string component = rest.substr(0, end);
    rest.erase(0, end + 1);
    if (component == "..") resolved = parent_of(resolved);
    if (component.empty() || component == "." || component == "..") continue;
    const std::string next = below(resolved, component);
    const std::string target = added_.contains(next) ? "" : link_at(root_.get(), next);
    if (target.empty()) {
      resolved = next;
      continue;
    }
    if (++links > kMostLinks)
      return Error::because("its path leads through too many symbolic links");
    if (target.front() == '/') resolved.clear();
    rest = target + "/" + rest;
  }
  return resolved.empty() ? resolved : path_of(resolved);  // the limits are the same
}

Result<TreeWriter::Place> TreeWriter::place_of(const std::string& path, Missing missing) {
  VERIFY(!path.empty());
  const std::string named = parent_of(path);
  const std::string name = path.substr(named.empty() ? 0 : named.size() + 1);
  if (!parent_ || named.empty() || named != parent_named_) {
    parent_.reset();  // it may lie in what takes the place of `name`
    const std::string parent = TRY(without_links(named));
    if (parent.empty()) return Place{root_.get(), name, name};
    OwnedFd at;
    for (size_t begin = 0; begin < parent.size();) {
      const size_t end = std::min(parent.find('/', begin), parent.size());
      TRY(step_into(at, parent, begin, end, missing));
      begin = end + 1;
    }
    parent_ = std::move(at);
    parent_named_ = named;
    parent_path_ = parent;
  }
  return Place{parent_.get(), name, below(parent_path_, name)};
}

// Whatever stands there goes.
Result<void> TreeWriter::make_room(const Place& place) {
  struct stat info {};
  if (::fstatat(place.directory, place.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) < 0) {
    if (errno == ENOENT) return {};
    return Error::from_errno("stat");
  }
  return remove_tree(place.directory, place.name);
}

void TreeWriter::note(const std::string& path) {
  if (!layered_) return;
  for (std::string at = path; !at.empty() && added_.insert(at).second;) at = parent_of(at);
}

Result<void> TreeWriter::make_directory(const std::string& path) {
  if (path.empty()) return {};
  const Place place = TRY(place_of(path, Missing::kMake));
  note(place.path);
  struct stat info {};
  if (::fstatat(place.directory, place.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISDIR(info.st_mode)) {
    return {};
  }
  TRY(make_room(place));
  if (::mkdirat(place.directory, place.name.c_str(), 0755) < 0) return Error::from_errno("mkdir");
  if (::fchmodat(place.directory, place.name.c_str(), 0755, 0) < 0)
    return Error::from_errno("chmod");
  return {};
}

Result<OwnedFd> TreeWriter::create_file(const std::string& path) {
  if (path.empty()) return Error::because("the root is a directory");
  const Place place = TRY(place_of(path, Missing::kMake));
  TRY(make_room(place));
  note(place.path);
  return sys::open_at(place.directory, place.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
}

Result<void> TreeWriter::finish_file(int file, const FileFacts& facts) {
  if (::ftruncate(file, static_cast<off_t>(facts.size)) < 0) return Error::from_errno("truncate");
  if (::fchmod(file, (facts.mode & 0111) != 0 ? 0755 : 0644) < 0) return Error::from_errno("chmod");
  const timespec times[2] = {facts.modified, facts.modified};
  // A time that the file system cannot have is no reason to refuse the file.
  static_cast<void>(::futimens(file, times));
  return {};
}

Result<void> TreeWriter::make_symlink(const std::string& path, const std::string& target) {
  if (path.empty()) return Error::because("the root is a directory");
  if (target.empty()) return Error::because("it is a symbolic link to nothing");
  const Place place = TRY(place_of(path, Missing::kMake));
  TRY(make_room(place));
  note(place.path);
  if (::symlinkat(target.c_str(), place.directory, place.name.c_str()) < 0)
    return Error::from_errno("symlink");
  return {};
}

Result<void> TreeWriter::make_hard_link(const std::string& path, const std::string& target) {
  if (path.empty()) return Error::because("the root is a directory");
  if (target.empty()) return Error::because("it is a hard link to the root");
  const Place from = TRY(place_of(target, Missing::kRefuse));
  struct stat info {};
  if (::fstatat(from.directory, from.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) < 0)
    return Error::from_errno("hard link to /" + target);
  if (S_ISLNK(info.st_mode))
    return Error::because("it is a hard link to /" + target + ", a symbolic link");
  if (!S_ISREG(info.st_mode))
    return Error::because("it is a hard link to /" + target + ", which is no regular file");
  // Held, because the next look-up may drop the remembered parent; and checked again below, for
  // making room may take the target away.
  const OwnedFd source_directory = TRY(sys::open_at(from.directory, ".", O_PATH | O_DIRECTORY));
  const Place place = TRY(place_of(path, Missing::kMake));
  note(place.path);
  if (place.path == from.path) return {};
  TRY(make_room(place));
  if (::linkat(source_directory.get(), from.name.c_str(), place.directory, place.name.c_str(), 0) <
      0) {
    return Error::from_errno("hard link to /" + target);
  }
  return {};
}

// Removes everything below `path` in `directory` that the present layer has not added.
Result<void> TreeWriter::remove_lower(int directory, const std::string& path) {
  for (const std::string& name : TRY(names_in(directory))) {
    const std::string each = path.empty() ? name : path + "/" + name;
    if (!added_.contains(each)) {
      TRY(remove_tree(directory, name));
      continue;
    }
    const OwnedFd inner(::openat(directory, name.c_str(), kStep | O_CLOEXEC));
    if (inner) TRY(remove_lower(inner.get(), each));
  }
  return {};
}

Result<void> TreeWriter::white_out(const std::string& path) {
  auto place = place_of(path, Missing::kRefuse);
  if (!place) {
    if (place.error().code() == ENOENT) return {};
    return std::move(place).error();
  }
  if (!added_.contains(place->path)) return remove_tree(place->directory, place->name);
  const OwnedFd inner(::openat(place->directory, place->name.c_str(), kStep | O_CLOEXEC));
  return inner ? remove_lower(inner.get(), place->path) : Result<void>();
}

Result<void> TreeWriter::make_opaque(const std::string& path) {
  TRY(make_directory(path));
  if (path.empty()) {
    parent_.reset();
    return remove_lower(root_.get(), path);
  }
  const Place place = TRY(place_of(path, Missing::kRefuse));
  const OwnedFd inner = TRY(sys::open_at(place.directory, place.name, kStep));
  return remove_lower(inner.get(), place.path);
}

}  // namespace images
