#include "tools/cli/isolate/contents.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <set>
#include <string_view>

#include "images/sha256.h"
#include "runtime/values/utf8.h"
#include "sandbox/sys/file.h"

namespace cli {
namespace {

using runtime::InputFile;
using sys::Error;
using sys::OwnedFd;
using sys::Result;

constexpr unsigned kDeepest = 64;
constexpr size_t kMostFiles = 50'000, kMostPassedOver = 20;
constexpr uint64_t kMostBytes = uint64_t{1} << 30, kPage = 4096;
constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

constexpr mode_t kOthersRead = 04, kOthersWrite = 02, kOthersEnter = 05;

// The directory is read; those below it are entered.
class Intake {
 public:
  explicit Intake(const HostFolder& folder) : folder_(folder) {}

  Result<void> directory(int fd, const std::string& prefix, unsigned depth) {
    for (const std::string& name : TRY(names_in(fd, prefix))) {
      struct stat about {};
      if (::fstatat(fd, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) < 0) continue;
      const std::string path = prefix + name;
      if (folder_.scratch.empty() && path + "/" == kBoxInScratch)
        return Error::because(folder_.outside + ": /tmp cannot have a \"box\" of its own");
      const bool is_plain = S_ISREG(about.st_mode) || S_ISDIR(about.st_mode);
      if (!is_plain || !runtime::is_utf8(name)) {
        pass_over(path, is_plain ? "its name is not UTF-8" : "neither a file nor a directory");
      } else if (contents_.files.size() >= kMostFiles) {
        return Error::because(fmt::format("{}: more than {} files", folder_.outside, kMostFiles));
      } else if (S_ISDIR(about.st_mode)) {
        if (!may(about, kOthersEnter)) continue;
        if (depth >= kDeepest) return Error::because(path + ": nested too deeply");
        keep({folder_.scratch + path + "/", "", true});
        OwnedFd below = TRY(sys::open_at(fd, name, kFolder));
        TRY(directory(below.get(), path + "/", depth + 1));
      } else {
        TRY(file(fd, name, path, about));
      }
    }
    return {};
  }

  Contents take() { return std::move(contents_); }

 private:
  static Result<std::vector<std::string>> names_in(int fd, const std::string& prefix) {
    OwnedFd own = TRY(sys::duplicate(fd));
    std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(own.get()), ::closedir);
    if (!stream) return Error::from_errno("list " + prefix);
    (void)own.release();
    std::vector<std::string> names;
    while (const dirent* item = ::readdir(stream.get())) {
      const std::string_view name = item->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  bool may(const struct stat& about, mode_t wanted) const {
    return folder_.writes == HostFolder::Writes::kBox || (about.st_mode & wanted) == wanted;
  }

  Result<void> file(int parent, const std::string& name, const std::string& path,
                    const struct stat& about) {
    if (!may(about, kOthersRead) && !may(about, kOthersWrite)) return {};
    InputFile taken{folder_.scratch + path, "", (about.st_mode & 0111) != 0};
    if (may(about, kOthersRead)) {  // what can only be written to is there, and seems empty
      OwnedFd file = TRY(sys::open_at(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
      taken.content = TRY(sys::read_all(file.get(), kMostBytes - bytes_));
    }
    bytes_ += taken.content.size();
    contents_.pages_bytes += (taken.content.size() + kPage - 1) / kPage * kPage;
    keep(std::move(taken));
    return {};
  }

  void keep(InputFile file) {
    contents_.taken.push_back({file.path, images::sha256_of(file.content), file.executable});
    contents_.files.push_back(std::move(file));
  }

  void pass_over(const std::string& path, const char* why) {
    if (contents_.passed_over.size() < kMostPassedOver)
      contents_.passed_over.push_back(fmt::format("{}: {}", path, why));
  }

  const HostFolder& folder_;
  Contents contents_;
  uint64_t bytes_ = 0;
};

// Writes into the directory, a step of the path at a time.
class Outlet {
 public:
  Outlet(const HostFolder& folder, int root) : folder_(folder), root_(root) {}

  Result<void> remove(const std::string& path) {
    std::string name;
    auto parent = open_parent(path, name);
    if (!parent || !may_change(parent->get())) return {};
    const bool is_directory = path.ends_with('/');
    // A directory that holds something that was never taken in stays.
    if (::unlinkat(parent->get(), name.c_str(), is_directory ? AT_REMOVEDIR : 0) == 0 ||
        errno == ENOENT || errno == ENOTEMPTY || errno == ENOTDIR || errno == EISDIR)
      return {};
    return Error::from_errno("remove " + path);
  }

  Result<void> put(const InputFile& file, const std::string& path) {
    std::string name;
    auto opened = open_parent(path, name);
    // Below a directory that the program may not make, there is nothing to be made either.
    if (!opened && folder_.writes == HostFolder::Writes::kOthers) return {};
    OwnedFd parent = TRY(std::move(opened));
    struct stat about {};
    const bool exists = ::fstatat(parent.get(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0;
    if (path.ends_with('/')) {
      if ((exists && S_ISDIR(about.st_mode)) || !may_change(parent.get())) return {};
      if (exists) (void)::unlinkat(parent.get(), name.c_str(), 0);
      if (::mkdirat(parent.get(), name.c_str(), 0755) == 0) return {};
      return Error::from_errno("make " + path);
    }
    // A second name of a file elsewhere becomes a file of its own.
    const bool is_alone = about.st_nlink == 1 || folder_.writes == HostFolder::Writes::kOthers;
    const bool replaces = exists && S_ISREG(about.st_mode) && is_alone;
    if (replaces ? !may(about) : !may_change(parent.get())) return {};
    if (exists && !replaces && ::unlinkat(parent.get(), name.c_str(), 0) < 0)
      return Error::from_errno("replace " + path);
    OwnedFd target = TRY(sys::open_at(
        parent.get(), name,
        O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | (replaces ? 0 : O_EXCL), 0644));
    TRY(sys::write_all(target.get(), file.content));
    if (folder_.writes == HostFolder::Writes::kBox || !replaces)
      (void)::fchmod(target.get(), file.executable ? 0755 : 0644);
    return {};
  }

 private:
  bool may(const struct stat& about) const {
    return folder_.writes == HostFolder::Writes::kBox || (about.st_mode & kOthersWrite) != 0;
  }
  bool may_change(int directory) const {
    struct stat about {};
    return ::fstat(directory, &about) == 0 && may(about);
  }

  Result<OwnedFd> open_parent(const std::string& path, std::string& name) const {
    const std::string plain = path.ends_with('/') ? path.substr(0, path.size() - 1) : path;
    OwnedFd at = TRY(sys::open_at(root_, ".", kFolder));
    size_t begin = 0;
    for (size_t slash; (slash = plain.find('/', begin)) != plain.npos; begin = slash + 1)
      at = TRY(sys::open_at(at.get(), plain.substr(begin, slash - begin), kFolder));
    name = plain.substr(begin);
    if (name.empty() || name == "." || name == "..") return Error::because("no name: " + path);
    return at;
  }

  const HostFolder& folder_;
  int root_;
};

bool belongs(const HostFolder& folder, const std::string& path) {
  if (folder.scratch.empty() && path.starts_with(kBoxInScratch)) return false;
  return path.starts_with(folder.scratch) && path.size() > folder.scratch.size();
}

bool is_same(const Taken& before, const InputFile& now) {
  return before.executable == now.executable && before.digest == images::sha256_of(now.content);
}

}  // namespace

Result<Contents> take_in(const HostFolder& folder) {
  OwnedFd root = TRY(sys::open(folder.outside, O_RDONLY | O_DIRECTORY));
  Intake intake(folder);
  TRY(intake.directory(root.get(), "", 0));
  return intake.take();
}

Result<void> bring_back(const HostFolder& folder, const std::vector<Taken>& taken,
                        const std::vector<InputFile>& left) {
  OwnedFd root = TRY(sys::open(folder.outside, O_RDONLY | O_DIRECTORY));
  Outlet outlet(folder, root.get());
  std::map<std::string_view, const Taken*> before;
  for (const Taken& file : taken) before.emplace(file.path, &file);
  std::set<std::string_view> kept;
  for (const InputFile& file : left) kept.insert(file.path);
  // The entries below a directory are removed before it.
  for (auto file = taken.rbegin(); file != taken.rend(); ++file) {
    if (!kept.contains(file->path)) TRY(outlet.remove(file->path.substr(folder.scratch.size())));
  }
  for (const InputFile& file : left) {
    if (!belongs(folder, file.path)) continue;
    const auto old = before.find(file.path);
    if (old != before.end() && is_same(*old->second, file)) continue;
    TRY(outlet.put(file, file.path.substr(folder.scratch.size())));
  }
  return {};
}

Result<OwnedFd> open_beneath(const std::string& directory, const std::string& path, int flags) {
  OwnedFd at = TRY(sys::open(directory, O_RDONLY | O_DIRECTORY));
  size_t begin = 0;
  for (size_t slash; (slash = path.find('/', begin)) != path.npos; begin = slash + 1)
    at = TRY(sys::open_at(at.get(), path.substr(begin, slash - begin), kFolder));
  return sys::open_at(at.get(), path.substr(begin), flags | O_NOFOLLOW);
}

}  // namespace cli
