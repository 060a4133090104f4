#include "images/archive/archive.h"

#include <unistd.h>

#include <optional>

#include "images/archive/reader.h"
#include "images/sha256.h"

namespace images {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

constexpr std::string_view kWhiteout = ".wh.";
constexpr std::string_view kOpaque = ".wh..wh..opq";

Result<void> write_at(int file, std::string_view bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error::from_errno("write");
    bytes.remove_prefix(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return {};
}

class Unpacking {
 public:
  Unpacking(ArchiveReader& reader, Names names, TreeWriter& into)
      : reader_(reader), names_(names), into_(into) {}

  Result<void> member(archive_entry* entry) {
    const char* name = archive_entry_pathname(entry);
    if (!name) return Error::because("its name cannot be read");
    const int64_t size = archive_entry_size_is_set(entry) ? archive_entry_size(entry) : 0;
    if (size < 0) return Error::because("its size is negative");
    TRY(into_.admit(static_cast<uint64_t>(size)));
    const std::string path = TRY(into_.path_of(name));
    if (names_ == Names::kWhiteouts && TRY(was_whiteout(path))) return {};
    if (const char* target = archive_entry_hardlink(entry)) {
      const std::string other = TRY(target_path(target));
      return into_.make_hard_link(path, other);
    }
    switch (archive_entry_filetype(entry)) {
      case AE_IFDIR:
        return into_.make_directory(path);
      case AE_IFLNK: {
        const char* target = archive_entry_symlink(entry);
        return into_.make_symlink(path, target ? target : "");
      }
      case AE_IFREG:
        return file(path, entry, static_cast<uint64_t>(size));
      default:  // devices, fifos, sockets, and types that nobody knows
        into_.skip();
        return {};
    }
  }

 private:
  Result<std::string> target_path(const char* target) const {
    auto path = into_.path_of(target);
    if (path) return path;
    return Error::because("it is a hard link to \"" + std::string(target) +
                          "\", which is refused: " + path.error().text());
  }

  // Whether the path is one of those that only say what lower layers lose.
  Result<bool> was_whiteout(const std::string& path) {
    const size_t slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "" : path.substr(0, slash);
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    if (!name.starts_with(kWhiteout)) return false;
    if (name == kOpaque) {
      TRY(into_.make_opaque(parent));
      return true;
    }
    if (name.starts_with(".wh..wh.")) return true;  // bookkeeping of aufs
    const std::string hidden = name.substr(kWhiteout.size());
    if (hidden.empty() || hidden == "." || hidden == "..")
      return Error::because("it is a whiteout of no name");
    TRY(into_.white_out(parent.empty() ? hidden : parent + "/" + hidden));
    return true;
  }

  Result<void> file(const std::string& path, archive_entry* entry, uint64_t size) {
    const OwnedFd made = TRY(into_.create_file(path));
    for (;;) {
      const ArchiveReader::Piece piece = TRY(reader_.data());
      if (piece.end) break;
      if (piece.offset > size || piece.bytes.size() > size - piece.offset)
        return Error::because("it holds more than its header says");
      TRY(write_at(made.get(), piece.bytes, piece.offset));
    }
    FileFacts facts{archive_entry_mode(entry), {archive_entry_mtime(entry), 0}, size};
    return into_.finish_file(made.get(), facts);
  }

  ArchiveReader& reader_;
  Names names_;
  TreeWriter& into_;
};

Result<void> unpack_all(int file, Names names, TreeWriter& into, const Watch& watch) {
  ArchiveReader reader(file, watch, "unpacking");
  TRY(reader.open(ArchiveReader::Content::kTar));
  if (names == Names::kWhiteouts) into.begin_layer();
  Unpacking unpacking(reader, names, into);
  while (archive_entry* entry = TRY(reader.next())) {
    const char* raw = archive_entry_pathname(entry);
    const std::string name = raw ? raw : "";
    auto done = unpacking.member(entry);
    if (!done) return std::move(done).error().context("member \"" + name + "\"");
  }
  return {};
}

Result<std::string> digest_all(int file, sys::Bytes limit, const Watch& watch) {
  ArchiveReader reader(file, watch, "checking");
  TRY(reader.open(ArchiveReader::Content::kAnything));
  Sha256 digest;
  if (!TRY(reader.next())) return digest.hex();
  for (uint64_t total = 0;;) {
    const ArchiveReader::Piece piece = TRY(reader.data());
    if (piece.end) return digest.hex();
    total += piece.bytes.size();
    if (total > limit.count) {
      return Error::because("unpacked it has more than " + std::to_string(limit.count) + " bytes");
    }
    digest.add(piece.bytes);
  }
}

}  // namespace

Result<void> unpack_archive(int file, const std::string& label, Names names, TreeWriter& into,
                            const Watch& watch) {
  auto unpacked = unpack_all(file, names, into, watch);
  if (!unpacked) return std::move(unpacked).error().context(label);
  return {};
}

Result<std::string> sha256_of_content(int file, const std::string& label, sys::Bytes limit,
                                      const Watch& watch) {
  auto digest = digest_all(file, limit, watch);
  if (!digest) return std::move(digest).error().context(label);
  return digest;
}

}  // namespace images
