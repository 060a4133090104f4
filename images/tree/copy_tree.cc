#include "images/tree/copy_tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <map>
#include <vector>

#include "images/tree/directory_names.h"
#include "sandbox/sys/file.h"

namespace images {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

constexpr size_t kPiece = size_t{1} << 20;
using FileId = std::pair<dev_t, ino_t>;

FileId id_of(const struct stat& info) { return {info.st_dev, info.st_ino}; }

class Copy {
 public:
  Copy(TreeWriter& into, const Watch& watch) : into_(into), watch_(watch), piece_(kPiece) {}

  Result<void> start(int directory, const std::string& below) {
    struct stat from {
    }, to{};
    if (::fstat(directory, &from) < 0 || ::fstat(into_.root(), &to) < 0)
      return Error::from_errno("stat");
    device_ = from.st_dev;
    destination_ = id_of(to);
    return children(directory, below);
  }
  const std::string& failed() const { return failed_; }

 private:
  Result<void> children(int directory, const std::string& path) {
    for (const std::string& name : TRY(names_in(directory))) {
      const std::string each = path.empty() ? name : path + "/" + name;
      auto copied = one(directory, name, each);
      if (!copied) {
        failed_ = failed_.empty() ? each : failed_;
        return std::move(copied).error();
      }
    }
    return {};
  }

  Result<void> one(int directory, const std::string& name, const std::string& path) {
    struct stat info {};
    if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) < 0)
      return Error::from_errno("stat");
    static_cast<void>(TRY(into_.path_of(path)));  // its length and depth
    const bool regular = S_ISREG(info.st_mode);
    TRY(into_.admit(regular ? static_cast<uint64_t>(info.st_size) : 0));
    if (S_ISDIR(info.st_mode)) return subdirectory(directory, name, path, info);
    if (S_ISLNK(info.st_mode)) return link(directory, name, path);
    if (regular) return file(directory, name, path);
    into_.skip();
    return {};
  }

  Result<void> subdirectory(int directory, const std::string& name, const std::string& path,
                            const struct stat& info) {
    if (id_of(info) == destination_)
      return Error::because("it is the store itself, which would be copied into itself");
    TRY(into_.make_directory(path));
    if (info.st_dev != device_) return {};
    const OwnedFd inner = TRY(sys::open_at(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    return children(inner.get(), path);
  }

  Result<void> link(int directory, const std::string& name, const std::string& path) {
    char target[PATH_MAX];
    const ssize_t n = ::readlinkat(directory, name.c_str(), target, sizeof target);
    if (n < 0) return Error::from_errno("read the link");
    return into_.make_symlink(path, std::string(target, static_cast<size_t>(n)));
  }

  Result<void> file(int directory, const std::string& name, const std::string& path) {
    const OwnedFd from = TRY(sys::open_at(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    struct stat info {};
    if (::fstat(from.get(), &info) < 0) return Error::from_errno("stat");
    if (!S_ISREG(info.st_mode)) return Error::because("it changes while it is copied");
    if (info.st_nlink > 1) {
      auto [known, fresh] = linked_.try_emplace(id_of(info), path);
      if (!fresh) return into_.make_hard_link(path, known->second);
    }
    const OwnedFd to = TRY(into_.create_file(path));
    const auto size = static_cast<uint64_t>(info.st_size);
    TRY(content(from.get(), to.get(), size));
    return into_.finish_file(to.get(), {info.st_mode, info.st_mtim, size});
  }

  Result<void> content(int from, int to, uint64_t size) {
    for (off_t at = 0; static_cast<uint64_t>(at) < size;) {
      const off_t data = ::lseek(from, at, SEEK_DATA);
      if (data < 0 && errno == ENXIO) return {};  // a hole up to the end
      if (data > at) at = data;
      off_t end = ::lseek(from, at, SEEK_HOLE);
      if (end < 0 || static_cast<uint64_t>(end) > size) end = static_cast<off_t>(size);
      if (TRY(stretch(from, to, at, end)) == Stretch::kShort) return {};
      at = end;
    }
    return {};
  }

  enum class Stretch : uint8_t { kWhole, kShort };
  Result<Stretch> stretch(int from, int to, off_t at, off_t end) {
    while (at < end) {
      const auto wanted = std::min(piece_.size(), static_cast<size_t>(end - at));
      const ssize_t n = ::pread(from, piece_.data(), wanted, at);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Error::from_errno("read");
      if (n == 0) return Stretch::kShort;  // it has become shorter
      if (::lseek(to, at, SEEK_SET) < 0) return Error::from_errno("seek");
      TRY(sys::write_all(to, {piece_.data(), static_cast<size_t>(n)}));
      at += n;
      done_ += static_cast<uint64_t>(n);
      TRY(report(watch_, {"copying", done_, 0}));
    }
    return Stretch::kWhole;
  }

  TreeWriter& into_;
  const Watch& watch_;
  std::vector<char> piece_;
  dev_t device_ = 0;
  FileId destination_;
  std::map<FileId, std::string> linked_;  // the first path of each file with several
  std::string failed_;                    // the path that could not be copied
  uint64_t done_ = 0;
};

}  // namespace

Result<void> copy_tree(int directory, const std::string& label, TreeWriter& into,
                       const Watch& watch, const std::string& below) {
  Copy copy(into, watch);
  if (!below.empty()) TRY(into.make_directory(below));
  auto copied = copy.start(directory, below);
  if (copied) return {};
  const std::string where =
      copy.failed().empty() ? label : label + ": member \"" + copy.failed() + "\"";
  return std::move(copied).error().context(where);
}

}  // namespace images
