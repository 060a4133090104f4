#include "sandbox/notify/files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sandbox/notify/memory.h"
#include "sandbox/seccomp/syscall_names.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/identity.h"

namespace sandbox {

enum class Effect : uint8_t {
  kOpen,        // by the flags
  kCreate,      // a new name; fails by itself if it exists
  kRemove,      // a name
  kReplace,     // a name, existing or not
  kChange,      // what the name stands for, through a last link
  kChangeLink,  // likewise, not through a last link
};
constexpr int8_t kNone = -1;

struct PathUse {
  int8_t directory = kNone;  // number of the argument; none: the working directory
  int8_t path = kNone;
  Effect effect = Effect::kChange;
};

struct FileCall {
  const char* name;
  PathUse first;
  PathUse second{};
  int8_t flags = kNone;  // open flags for kOpen, otherwise AT_ flags
};

namespace {

// link() and symlink(): only the new name counts, the old one is merely read or not even that.
constexpr FileCall kFileCalls[] = {
    {"open", {kNone, 0, Effect::kOpen}, {}, 1},
    {"openat", {0, 1, Effect::kOpen}, {}, 2},
    {"creat", {kNone, 0, Effect::kOpen}},
    {"truncate", {kNone, 0, Effect::kChange}},
    {"mkdir", {kNone, 0, Effect::kCreate}},
    {"mkdirat", {0, 1, Effect::kCreate}},
    {"mknod", {kNone, 0, Effect::kCreate}},
    {"mknodat", {0, 1, Effect::kCreate}},
    {"link", {kNone, 1, Effect::kCreate}},
    {"linkat", {2, 3, Effect::kCreate}},
    {"symlink", {kNone, 1, Effect::kCreate}},
    {"symlinkat", {1, 2, Effect::kCreate}},
    {"unlink", {kNone, 0, Effect::kRemove}},
    {"unlinkat", {0, 1, Effect::kRemove}},
    {"rmdir", {kNone, 0, Effect::kRemove}},
    {"rename", {kNone, 0, Effect::kRemove}, {kNone, 1, Effect::kReplace}},
    {"renameat", {0, 1, Effect::kRemove}, {2, 3, Effect::kReplace}},
    {"renameat2", {0, 1, Effect::kRemove}, {2, 3, Effect::kReplace}},
    {"chmod", {kNone, 0, Effect::kChange}},
    {"fchmodat", {0, 1, Effect::kChange}},
    {"chown", {kNone, 0, Effect::kChange}},
    {"lchown", {kNone, 0, Effect::kChangeLink}},
    {"fchownat", {0, 1, Effect::kChange}, {}, 4},
    {"utime", {kNone, 0, Effect::kChange}},
    {"utimes", {kNone, 0, Effect::kChange}},
    {"futimesat", {0, 1, Effect::kChange}},
    {"utimensat", {0, 1, Effect::kChange}, {}, 3},
    {"setxattr", {kNone, 0, Effect::kChange}},
    {"lsetxattr", {kNone, 0, Effect::kChangeLink}},
    {"removexattr", {kNone, 0, Effect::kChange}},
    {"lremovexattr", {kNone, 0, Effect::kChangeLink}},
};

std::unordered_map<int, const FileCall*> number_file_calls() {
  std::unordered_map<int, const FileCall*> out;
  for (const FileCall& call : kFileCalls) {
    if (CallNumber number = call_number(call.name); number.value >= 0) out[number.value] = &call;
  }
  return out;
}

enum class LastLink : uint8_t { kFollow, kStay };

struct Found {
  sys::OwnedFd file;
  int error = 0;  // errno when there is none
  struct stat status {};
  explicit operator bool() const { return error == 0; }
};

// With fs.protected_symlinks, as Debian sets it, a link in a sticky directory that all may write
// to, as the scratch is, leads on only for its owner: not even for root.
sys::OwnedFd open_inside(const CellView& cell, const std::string& path, open_how how) {
  auto open = [&] {
    return sys::OwnedFd(
        static_cast<int>(::syscall(SYS_openat2, cell.root_fd, path.c_str(), &how, sizeof how)));
  };
  sys::OwnedFd file = open();
  if (file || errno != EACCES || !cell.owner) return file;
  sys::FileIdentity as_owner(cell.owner);
  return open();
}

// `path` inside the cell's root, as the job would walk it, but never out through /proc's links.
Found look(const CellView& cell, const std::string& path, LastLink link) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC | (link == LastLink::kStay ? O_NOFOLLOW : 0);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  Found found;
  found.file = open_inside(cell, path, how);
  if (!found.file || ::fstat(found.file.get(), &found.status) < 0) found.error = errno;
  return found;
}

// Why nothing can be said, though there may be something.
std::optional<Reach> no_answer(const Found& found) {
  if (found.error == EMFILE || found.error == ENFILE || found.error == ENOMEM)
    return Reach::kUnseen;
  return std::nullopt;
}

std::string_view without_trailing_slashes(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return path;
}

// The directory that holds the last name. "." and ".." are no names, so they stay whole.
std::string parent_of(std::string_view path) {
  path = without_trailing_slashes(path);
  size_t slash = path.rfind('/');
  std::string_view last = path.substr(slash + 1);
  if (last == "." || last == ".." || slash == std::string_view::npos) return std::string(path);
  return slash == 0 ? "/" : std::string(path.substr(0, slash));
}

// The place to which a descriptor of ours points, by the kernel's own word.
std::optional<std::string> path_of(int fd) { return Caller{::getpid()}.directory(fd); }

Reach reach_of_found(const CellView& cell, const Found& found) {
  if (!cell.scratch_path.empty()) {
    std::optional<std::string> path = path_of(found.file.get());
    if (!path) return Reach::kUnknown;
    bool beneath =
        path->starts_with(cell.scratch_path) &&
        (path->size() == cell.scratch_path.size() || (*path)[cell.scratch_path.size()] == '/');
    return beneath ? Reach::kScratch : Reach::kOutside;
  }
  return found.status.st_dev == cell.scratch_device ? Reach::kScratch : Reach::kOutside;
}

// `path`, or what is left of it: an attempt on a file that the image does not have is an attempt on
// the place where it would be, which its deepest existing directory tells.
Reach reach_of_place(const CellView& cell, std::string path, LastLink link) {
  Found found = look(cell, path, link);
  if (found) return reach_of_found(cell, found);
  if (found.error == ENAMETOOLONG) return Reach::kNothing;  // never a file
  if (auto none = no_answer(found)) return *none;
  if (found.error != ENOENT && found.error != ENOTDIR) return Reach::kUnknown;
  std::vector<std::string> parents;
  for (std::string at = path, up; (up = parent_of(at)) != at; at = up) parents.push_back(up);
  // By halving: a path of two thousand names, through links to ones as long, must not be walked two
  // thousand times. Beneath what is there nothing shorter is missing.
  size_t low = 0, high = parents.size();
  Reach reach = Reach::kUnknown;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    found = look(cell, parents[middle], LastLink::kFollow);
    if (auto none = no_answer(found)) return *none;
    if (!found && found.error != ENOENT && found.error != ENOTDIR) return Reach::kUnknown;
    if (found) reach = reach_of_found(cell, found);
    if (found)
      high = middle;
    else
      low = middle + 1;
  }
  return reach;
}

// null, zero, full and tty: the terminal of the job, if any.
bool is_harmless_device(const struct stat& status) {
  if (!S_ISCHR(status.st_mode)) return false;
  dev_t device = status.st_rdev;
  return device == makedev(1, 3) || device == makedev(1, 5) || device == makedev(1, 7) ||
         device == makedev(5, 0);
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "/dev/stdout" and its kin open what the job has open already. They lead through links of /proc
// that mean something else in our own process.
bool names_own_descriptor(std::string_view path) {
  if (path == "/dev/tty") return true;  // a cell has no terminal: nothing is there to be written
  if (path == "/dev/stdin" || path == "/dev/stdout" || path == "/dev/stderr") return true;
  if (path.starts_with("/dev/fd/")) return is_number(path.substr(8));
  if (!path.starts_with("/proc/")) return false;
  path.remove_prefix(6);
  size_t slash = path.find('/');
  if (slash == std::string_view::npos) return false;
  std::string_view who = path.substr(0, slash);
  std::string_view rest = path.substr(slash);
  if (who != "self" && who != "thread-self" && !is_number(who)) return false;
  return rest.starts_with("/fd/") && is_number(rest.substr(4));
}

Reach reach_of_new_file(const CellView& cell, std::string path) {
  constexpr int kMaxLinks = 8;
  for (int i = 0; i < kMaxLinks; ++i) {
    Found name = look(cell, path, LastLink::kStay);
    if (!name || !S_ISLNK(name.status.st_mode)) break;
    // A link to nothing: the file will be made where it points.
    char target[PATH_MAX];
    ssize_t n = ::readlinkat(name.file.get(), "", target, sizeof target);
    if (n <= 0) return Reach::kUnknown;
    std::string_view text(target, static_cast<size_t>(n));
    path = text.front() == '/' ? std::string(text) : parent_of(path) + "/" + std::string(text);
    if (names_own_descriptor(path)) return Reach::kNothing;
  }
  return reach_of_place(cell, parent_of(path), LastLink::kFollow);
}

Reach reach_of_open(const CellView& cell, const std::string& path, uint64_t flags) {
  if ((flags & O_PATH) != 0 || names_own_descriptor(path)) return Reach::kNothing;
  // A JVM asks for smaller dumps whenever it starts; nobody can write there.
  if (path == "/proc/self/coredump_filter") return Reach::kNothing;
  if (path.starts_with("/proc/")) return Reach::kOutside;  // "self" is not us
  bool exclusive = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
  bool stay = (flags & O_NOFOLLOW) != 0 || exclusive;
  Found found = look(cell, path, stay ? LastLink::kStay : LastLink::kFollow);
  if (found && is_harmless_device(found.status)) return Reach::kNothing;
  if (found) return reach_of_found(cell, found);
  bool creates = found.error == ENOENT && (flags & O_CREAT) != 0 && !stay;
  return creates ? reach_of_new_file(cell, path) : reach_of_place(cell, path, LastLink::kStay);
}

// A name in a directory. Outside scratch, mkdir of what exists already is left to the kernel: with
// exist_ok it is an honest program's way of asking.
Reach reach_of_name(const CellView& cell, const std::string& path, Effect effect) {
  Reach parent = reach_of_place(cell, parent_of(path), LastLink::kFollow);
  if (parent != Reach::kOutside || effect != Effect::kCreate) return parent;
  const Found found = look(cell, path, LastLink::kStay);
  if (auto none = no_answer(found)) return *none;
  return found ? Reach::kNothing : parent;
}

struct Request {
  const FileCall& call;
  const CellView& cell;
  const Notice& notice;

  uint64_t flags() const {
    if (call.flags != kNone) return notice.args[call.flags] & 0xffffffff;
    return call.first.effect == Effect::kOpen ? O_CREAT | O_WRONLY | O_TRUNC : 0;  // creat
  }
};

Reach reach_of_path(const Request& request, const std::string& path, Effect effect) {
  switch (effect) {
    case Effect::kOpen:
      return reach_of_open(request.cell, path, request.flags());
    case Effect::kCreate:
    case Effect::kRemove:
    case Effect::kReplace:
      return reach_of_name(request.cell, path, effect);
    case Effect::kChange:
    case Effect::kChangeLink: {
      bool stay = effect == Effect::kChangeLink || (request.flags() & AT_SYMLINK_NOFOLLOW) != 0;
      return reach_of_place(request.cell, path, stay ? LastLink::kStay : LastLink::kFollow);
    }
  }
  return Reach::kUnknown;
}

// The text of a directory as the job sees it. Without a mount namespace of its own, a job's root is
// a directory of ours, and /proc shows our view of it.
std::string inside_root(const CellView& cell, std::string directory) {
  std::optional<std::string> root = path_of(cell.root_fd);
  if (!root || root->size() <= 1 || !directory.starts_with(*root)) return directory;
  if (directory.size() == root->size()) return "/";
  return directory[root->size()] == '/' ? directory.substr(root->size()) : directory;
}

// The path of one use, absolute where that can be told.
struct UsedPath {
  std::string text;
  bool readable = true, known = true;
};

UsedPath path_of_use(const Request& request, const PathUse& use) {
  Caller caller{request.notice.pid, request.notice.reader};
  std::optional<std::string> path = caller.path(request.notice.args[use.path]);
  if (!path) return {{}, false, true};
  if (path->empty() || path->front() == '/') return {*path, true, true};
  int fd = use.directory == kNone ? AT_FDCWD : static_cast<int>(request.notice.args[use.directory]);
  std::optional<std::string> base = caller.directory(fd);
  if (!base) return {*path, true, false};
  *path = inside_root(request.cell, *base) + "/" + *path;
  if (path->starts_with("//")) path->erase(0, 1);
  return {*path, true, true};
}

FileReach reach_of_use(const Request& request, const PathUse& use) {
  const UsedPath path = path_of_use(request, use);
  if (!path.readable) return {Reach::kUnreadable, {}};
  if (path.text.empty()) return {Reach::kNothing, {}};  // ENOENT, or a descriptor (AT_EMPTY_PATH)
  if (!path.known) return {Reach::kUnknown, path.text};
  return {reach_of_path(request, path.text, use.effect), path.text};
}

// The number at the end of "/proc/self/fd/7" and its kin; none for a terminal.
std::optional<int> own_descriptor(std::string_view path) {
  if (!names_own_descriptor(path) || path == "/dev/tty") return std::nullopt;
  if (path == "/dev/stdin") return 0;
  if (path == "/dev/stdout") return 1;
  if (path == "/dev/stderr") return 2;
  const std::string digits(path.substr(path.rfind('/') + 1));
  return digits.size() < 10 ? std::optional<int>(std::stoi(digits)) : std::nullopt;
}

}  // namespace

const FileCall* file_call(int number) {
  static const std::unordered_map<int, const FileCall*> calls = number_file_calls();
  auto found = calls.find(number);
  return found == calls.end() ? nullptr : found->second;
}

FileReach reach_of(const FileCall& call, const CellView& cell, const Notice& notice) {
  Request request{call, cell, notice};
  FileReach first = reach_of_use(request, call.first);
  if (call.second.path == kNone || first.reach == Reach::kNothing) return first;
  FileReach second = reach_of_use(request, call.second);
  return second.reach == Reach::kScratch || first.reach == Reach::kOutside ? first : second;
}

FileTarget target_of(const FileCall& call, const CellView& cell, const Notice& notice) {
  const Request request{call, cell, notice};
  const UsedPath path = path_of_use(request, call.first);
  FileTarget target;
  if (!path.readable || path.text.empty() || !path.known) {
    target.error = !path.readable ? EFAULT : path.known ? ENOENT : EBADF;
    return target;
  }
  target.descriptor = own_descriptor(path.text);
  if (target.descriptor) return target;
  const bool stay =
      call.first.effect == Effect::kChangeLink || (request.flags() & AT_SYMLINK_NOFOLLOW) != 0;
  Found found = look(cell, path.text, stay ? LastLink::kStay : LastLink::kFollow);
  target.error = found.error;
  if (found) target.file = std::move(found.file);
  return target;
}

}  // namespace sandbox
