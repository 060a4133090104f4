#include "images/archive/writer.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <memory>
#include <vector>

#include "images/tree/directory_names.h"
#include "images/utf8_locale.h"
#include "sandbox/sys/file.h"

namespace images {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

constexpr size_t kWritePiece = size_t{256} << 10;

struct Free {
  void operator()(archive* writer) const { archive_write_free(writer); }
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};
using Entry = std::unique_ptr<archive_entry, Free>;

class Writer {
 public:
  Writer(uint64_t total, const Watch& watch)
      : total_(total), watch_(watch), piece_(kWritePiece), writer_(archive_write_new()) {
    VERIFY(writer_ != nullptr);
  }

  Result<void> open(int file) {
    archive* a = writer_.get();
    if (archive_write_add_filter_zstd(a) != ARCHIVE_OK ||
        archive_write_set_format_pax_restricted(a) != ARCHIVE_OK ||
        archive_write_set_bytes_in_last_block(a, 1) != ARCHIVE_OK ||
        archive_write_open_fd(a, file) != ARCHIVE_OK)
      return broken("start the archive");
    return {};
  }
  Result<void> finish() {
    return archive_write_close(writer_.get()) == ARCHIVE_OK ? Result<void>()
                                                            : broken("end the archive");
  }

  Result<void> text(const FirstMember& member) {
    const Entry entry = TRY(begin(member.name, S_IFREG | 0644, member.content.size(), 0));
    return bytes(member.content);
  }

  Result<void> children(int directory, const std::string& path) {
    for (const std::string& name : TRY(names_in(directory))) {
      const std::string each = path.empty() ? name : path + "/" + name;
      TRY(one(directory, name, each));
    }
    return {};
  }

 private:
  Error broken(const std::string& what) const {
    const char* said = archive_error_string(writer_.get());
    const int code = archive_errno(writer_.get());
    if (code > 0) return Error::from_errno(what, code);
    return Error::because(what + (said ? std::string(": ") + said : ""));
  }

  Result<Entry> begin(const std::string& path, mode_t mode, uint64_t size, time_t modified,
                      const char* target = nullptr) {
    Entry entry(archive_entry_new());
    archive_entry_copy_pathname(entry.get(), path.c_str());
    archive_entry_set_mode(entry.get(), mode);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(size));
    archive_entry_set_mtime(entry.get(), modified, 0);
    if (target) archive_entry_copy_symlink(entry.get(), target);
    // A warning is about a name that is no UTF-8, and is written as it is.
    if (archive_write_header(writer_.get(), entry.get()) < ARCHIVE_WARN) return broken(path);
    return entry;
  }

  Result<void> bytes(std::string_view piece) {
    if (archive_write_data(writer_.get(), piece.data(), piece.size()) !=
        static_cast<la_ssize_t>(piece.size()))
      return broken("write the archive");
    done_ += piece.size();
    return report(watch_, {"packing", done_, total_});
  }

  Result<void> one(int directory, const std::string& name, const std::string& path) {
    struct stat info {};
    if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) < 0)
      return Error::from_errno("stat " + path);
    if (S_ISDIR(info.st_mode)) {
      const Entry entry = TRY(begin(path, S_IFDIR | 0755, 0, 0));
      const OwnedFd inner = TRY(sys::open_at(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
      return children(inner.get(), path);
    }
    if (S_ISLNK(info.st_mode)) {
      char target[PATH_MAX];
      const ssize_t n = ::readlinkat(directory, name.c_str(), target, sizeof target - 1);
      if (n < 0) return Error::from_errno("readlink " + path);
      target[n] = '\0';
      static_cast<void>(TRY(begin(path, S_IFLNK | 0777, 0, 0, target)));
      return {};
    }
    return file(directory, name, path, info);
  }

  Result<void> file(int directory, const std::string& name, const std::string& path,
                    const struct stat& info) {
    const OwnedFd from = TRY(sys::open_at(directory, name, O_RDONLY | O_NOFOLLOW));
    const auto size = static_cast<uint64_t>(info.st_size);
    const Entry entry = TRY(begin(path, info.st_mode, size, info.st_mtim.tv_sec));
    for (uint64_t at = 0; at < size;) {
      const ssize_t n = ::pread(from.get(), piece_.data(),
                                std::min<uint64_t>(kWritePiece, size - at), static_cast<off_t>(at));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Error::from_errno("read " + path);
      if (n == 0) return Error::because(path + ": changes while it is packed");
      TRY(bytes({piece_.data(), static_cast<size_t>(n)}));
      at += static_cast<uint64_t>(n);
    }
    return {};
  }

  uint64_t total_, done_ = 0;
  const Watch& watch_;
  std::vector<char> piece_;
  Utf8Locale utf8_;
  std::unique_ptr<archive, Free> writer_;
};

}  // namespace

Result<void> write_archive(int directory, const FirstMember& first, int file, uint64_t total,
                           const Watch& watch) {
  Writer writer(total, watch);
  TRY(writer.open(file));
  TRY(writer.text(first));
  TRY(writer.children(directory, ""));
  return writer.finish();
}

}  // namespace images
