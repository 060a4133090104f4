#include "tools/cli/judge/package/folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "sandbox/sys/directory.h"
#include "sandbox/sys/file.h"

namespace cli {
namespace {

constexpr size_t kMostEntries = 20000;  // of one folder
constexpr unsigned kDeepest = 16;

const std::string& shown(const std::string& path) {
  static const std::string kItself = ".";
  return path.empty() ? kItself : path;
}

sys::Error refused(const std::string& path, int code) {
  if (code == EXDEV)
    return sys::Error::because(shown(path) + ": a link that leads out of its folder");
  return sys::Error::from_errno(shown(path), code);
}

}  // namespace

std::string joined(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

sys::Result<Folder> Folder::open(const std::string& directory) {
  return Folder(TRY(sys::open(directory, O_PATH | O_DIRECTORY)));
}

// The kernel resolves every link below the directory, or not at all: openat2, Linux 5.6.
sys::Result<sys::OwnedFd> Folder::open_at(const std::string& path, int flags) const {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  long fd = -1;
  do {
    fd = ::syscall(SYS_openat2, directory_.get(), shown(path).c_str(), &how, sizeof how);
  } while (fd < 0 && (errno == EINTR || errno == EAGAIN));
  if (fd < 0) return refused(path, errno);
  return sys::OwnedFd(static_cast<int>(fd));
}

sys::Result<Folder::Kind> Folder::kind_of(const std::string& path) const {
  sys::Result<sys::OwnedFd> file = open_at(path, O_PATH);
  if (!file && (file.error().code() == ENOENT || file.error().code() == ENOTDIR))
    return Kind::kNothing;
  if (!file) return std::move(file).error();
  struct stat about {};
  if (::fstat(file->get(), &about) != 0) return sys::Error::from_errno(path);
  if (S_ISREG(about.st_mode)) return Kind::kFile;
  if (S_ISDIR(about.st_mode)) return Kind::kFolder;
  return sys::Error::because(shown(path) + ": neither a file nor a folder");
}

sys::Result<std::vector<Folder::Entry>> Folder::list(const std::string& path) const {
  sys::OwnedFd fd = TRY(open_at(path, O_RDONLY | O_DIRECTORY));
  const sys::OwnedDirectory directory(::fdopendir(fd.get()));
  if (!directory) return sys::Error::from_errno(shown(path));
  static_cast<void>(fd.release());  // closedir() closes it
  std::vector<Entry> entries;
  errno = 0;
  while (const dirent* found = ::readdir(directory.get())) {
    const std::string name = found->d_name;
    if (name.front() == '.') continue;
    if (entries.size() == kMostEntries)
      return sys::Error::because(
          fmt::format("{}: more than {} entries", shown(path), kMostEntries));
    entries.push_back({name, TRY(kind_of(joined(path, name)))});
    errno = 0;
  }
  if (errno != 0) return sys::Error::from_errno(shown(path));
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

sys::Result<void> Folder::collect(const std::string& path, unsigned depth, size_t most,
                                  std::vector<std::string>& into) const {
  if (depth > kDeepest)
    return sys::Error::because(
        fmt::format("{}: more than {} folders in each other", path, kDeepest));
  for (const Entry& entry : TRY(list(path))) {
    const std::string below = joined(path, entry.name);
    if (entry.kind == Kind::kFolder) TRY(collect(below, depth + 1, most, into));
    if (entry.kind != Kind::kFile) continue;
    if (into.size() == most)
      return sys::Error::because(fmt::format("{}: more than {} files", below, most));
    into.push_back(below);
  }
  return {};
}

sys::Result<std::vector<std::string>> Folder::files_below(const std::string& path,
                                                          size_t most) const {
  std::vector<std::string> files;
  TRY(collect(path, 1, most, files));
  std::sort(files.begin(), files.end());
  return files;
}

// O_NONBLOCK: a pipe that took the file's place since it was listed must not hold us.
sys::Result<std::string> Folder::read(const std::string& path, sys::Bytes most) const {
  sys::OwnedFd file = TRY(open_at(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) return sys::Error::from_errno(path);
  if (!S_ISREG(about.st_mode)) return sys::Error::because(path + ": not a file");
  if (static_cast<uint64_t>(about.st_size) > most.count)
    return sys::Error::because(fmt::format("{}: longer than {} bytes", path, most.count));
  sys::Result<std::string> bytes = sys::read_all(file.get(), most.count);
  if (!bytes) return std::move(bytes).error().context(path);
  return std::move(bytes).value();
}

sys::Result<std::optional<std::string>> Folder::read_if_any(const std::string& path,
                                                            size_t most) const {
  const Kind kind = TRY(kind_of(path));
  if (kind == Kind::kNothing) return std::optional<std::string>();
  if (kind != Kind::kFile) return sys::Error::because(path + ": not a file");
  return std::optional(TRY(read(path, sys::Bytes{most})));
}

sys::Result<sys::Bytes> Folder::size_of(const std::string& path) const {
  sys::OwnedFd file = TRY(open_at(path, O_PATH));
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) return sys::Error::from_errno(path);
  return sys::Bytes{static_cast<uint64_t>(about.st_size)};
}

sys::Result<bool> Folder::is_executable(const std::string& path) const {
  sys::OwnedFd file = TRY(open_at(path, O_PATH));
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) return sys::Error::from_errno(path);
  return (about.st_mode & 0111) != 0;
}

}  // namespace cli
