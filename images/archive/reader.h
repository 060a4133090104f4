#pragma once
// ArchiveReader: libarchive over a descriptor, with its status codes as Results. Beside archive.cc
// and writer.cc the only user of libarchive. Names are raw bytes; where an archive says
// they are UTF-8 they stay so, whatever the locale of the process.

#include <archive.h>
#include <archive_entry.h>

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "images/archive/gunzip.h"
#include "images/progress.h"
#include "images/utf8_locale.h"
#include "sandbox/sys/result.h"

namespace images {

class ArchiveReader {
 public:
  enum class Content : uint8_t { kTar, kAnything };  // kAnything: one member, the content itself
  // Borrows `file` and `watch`; both must outlive it.
  ArchiveReader(int file, const Watch& watch, std::string_view work);
  ArchiveReader(const ArchiveReader&) = delete;

  sys::Result<void> open(Content content);
  // The next member; null at the end of the archive.
  sys::Result<archive_entry*> next();
  struct Piece {
    std::string_view bytes;
    uint64_t offset = 0;
    bool end = false;
  };
  sys::Result<Piece> data();  // of the present member; its holes are passed over

 private:
  static la_ssize_t read_piece(archive* reader, void* self, const void** piece);
  sys::Result<std::string_view> read_file();
  sys::Result<void> check_rest();
  sys::Error broken(std::string_view what) const;
  bool ends_without_mark() const;

  struct Free {
    void operator()(archive* reader) const { archive_read_free(reader); }
  };
  int file_;
  const Watch& watch_;
  std::string_view work_;
  uint64_t at_ = 0, size_ = 0;
  bool stopped_ = false;
  std::vector<char> buffer_;
  std::optional<Gunzip> gunzip_;  // what the file is packed with
  Utf8Locale utf8_;
  std::unique_ptr<archive, Free> reader_;
};

}  // namespace images
