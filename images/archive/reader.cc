#include "images/archive/reader.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace images {

using sys::Error;
using sys::Result;

namespace {

constexpr size_t kPiece = size_t{256} << 10;

}  // namespace

ArchiveReader::ArchiveReader(int file, const Watch& watch, std::string_view work)
    : file_(file), watch_(watch), work_(work), buffer_(kPiece), reader_(archive_read_new()) {
  VERIFY(reader_ != nullptr);
}

Error ArchiveReader::broken(std::string_view what) const {
  if (stopped_) return Error::from_errno("stopped", ECANCELED);
  const char* said = archive_error_string(reader_.get());
  return Error::because(std::string(what) + (said ? ": " : "") + (said ? said : ""));
}

Result<std::string_view> ArchiveReader::read_file() {
  ssize_t n = 0;
  do {
    n = ::pread(file_, buffer_.data(), buffer_.size(), static_cast<off_t>(at_));
  } while (n < 0 && errno == EINTR);
  if (n < 0) return Error::from_errno("read");
  at_ += static_cast<uint64_t>(n);
  if (!report(watch_, {work_, at_, size_}).ok()) {
    stopped_ = true;
    return Error::from_errno("stopped", ECANCELED);
  }
  return std::string_view(buffer_.data(), static_cast<size_t>(n));
}

la_ssize_t ArchiveReader::read_piece(archive* reader, void* self, const void** piece) {
  auto* me = static_cast<ArchiveReader*>(self);
  const Result<std::string_view> read = me->gunzip_ ? me->gunzip_->next() : me->read_file();
  if (!read) {
    archive_set_error(reader, EIO, "%s", read.error().text().c_str());
    return ARCHIVE_FATAL;
  }
  *piece = read->data();
  return static_cast<la_ssize_t>(read->size());
}

// What stands behind the end of the archive, up to the checksum.
Result<void> ArchiveReader::check_rest() {
  if (!gunzip_) return {};
  for (;;) {
    Result<std::string_view> piece = gunzip_->next();
    if (!piece && stopped_) return Error::from_errno("stopped", ECANCELED);
    if (!piece) return Error::because("the archive is damaged: " + piece.error().text());
    if (piece->empty()) return {};
  }
}

Result<void> ArchiveReader::open(Content content) {
  struct stat info {};
  if (::fstat(file_, &info) < 0) return Error::from_errno("stat");
  size_ = static_cast<uint64_t>(info.st_size);
  archive* a = reader_.get();
  char begin[2] = {};
  const ssize_t n = ::pread(file_, begin, sizeof begin, 0);
  if (n == sizeof begin && Gunzip::is_gzip({begin, sizeof begin}))
    gunzip_.emplace([this] { return read_file(); });
  // One by one: "all" would bring those that start a program of the host.
  archive_read_support_filter_bzip2(a);
  archive_read_support_filter_xz(a);
  archive_read_support_filter_lzma(a);
  archive_read_support_filter_lzip(a);
  archive_read_support_filter_zstd(a);
  archive_read_support_filter_lz4(a);
  archive_read_support_filter_compress(a);
  if (content == Content::kTar) {
    archive_read_support_format_tar(a);
  } else {
    archive_read_support_format_raw(a);
    archive_read_support_format_empty(a);
  }
  if (archive_read_open(a, this, nullptr, read_piece, nullptr) != ARCHIVE_OK) {
    // EILSEQ is libarchive's word for what it does not know; else something could not be unpacked.
    const bool packed = gunzip_ || archive_filter_count(a) > 1 || archive_errno(a) != EILSEQ;
    return broken(content != Content::kTar ? "not readable"
                  : packed                 ? "damaged, or not a tar archive"
                                           : "not a tar archive");
  }
  return {};
}

// Two blocks of zeros end an archive; libarchive is content with the end of the file, where an
// archive that was cut between two members would pass for a whole one.
bool ArchiveReader::ends_without_mark() const {
  return archive_filter_bytes(reader_.get(), 0) <= archive_read_header_position(reader_.get());
}

Result<archive_entry*> ArchiveReader::next() {
  archive_entry* entry = nullptr;
  const int status = archive_read_next_header(reader_.get(), &entry);
  if (status == ARCHIVE_EOF) {
    TRY(check_rest());
    if (archive_format(reader_.get()) == ARCHIVE_FORMAT_RAW ||
        archive_format(reader_.get()) == ARCHIVE_FORMAT_EMPTY)
      return static_cast<archive_entry*>(nullptr);
    if (ends_without_mark()) return Error::because("the archive is truncated: it has no end mark");
    return static_cast<archive_entry*>(nullptr);
  }
  // A warning is about a name that is no UTF-8, or an attribute that would be dropped anyway.
  if (status == ARCHIVE_OK || status == ARCHIVE_WARN) return entry;
  return broken("the archive is damaged or truncated");
}

Result<ArchiveReader::Piece> ArchiveReader::data() {
  const void* bytes = nullptr;
  size_t size = 0;
  la_int64_t offset = 0;
  const int status = archive_read_data_block(reader_.get(), &bytes, &size, &offset);
  if (status == ARCHIVE_EOF) return Piece{{}, 0, true};
  if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
    return broken("the archive is damaged or truncated");
  if (offset < 0) return Error::because("the archive is damaged: a negative offset");
  return Piece{{static_cast<const char*>(bytes), size}, static_cast<uint64_t>(offset), false};
}

}  // namespace images
