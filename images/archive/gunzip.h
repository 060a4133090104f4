#pragma once
// Gunzip: the content of a gzip file in pieces, held to its checksums. libarchive unpacks gzip,
// too, but passes over the checksum and the length at its end (archive_read_support_filter_gzip.c),
// so that changed bytes are taken for the content.

#include <zlib.h>

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "sandbox/sys/result.h"

namespace images {

class Gunzip {
 public:
  // The next bytes of the file, which stay until it is called again; empty: its end.
  using Source = std::function<sys::Result<std::string_view>()>;
  explicit Gunzip(Source source) : source_(std::move(source)), piece_(kPiece) {}
  ~Gunzip();
  Gunzip(const Gunzip&) = delete;

  static bool is_gzip(std::string_view begin) { return begin.starts_with("\x1f\x8b"); }

  // The next piece, which stays until it is called again; empty: the end, and all was right.
  sys::Result<std::string_view> next();

 private:
  static constexpr size_t kPiece = size_t{256} << 10;
  sys::Result<bool> begin_member();
  sys::Result<bool> has_input();

  Source source_;
  std::vector<char> piece_;
  std::string_view input_;
  z_stream zlib_{};
  bool is_open_ = false;    // zlib_ is
  bool is_within_ = false;  // a member
  bool has_begun_ = false;  // the first one
};

}  // namespace images
