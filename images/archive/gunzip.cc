#include "images/archive/gunzip.h"

#include <algorithm>
#include <utility>

namespace images {

using sys::Error;
using sys::Result;

Gunzip::~Gunzip() {
  if (is_open_) ::inflateEnd(&zlib_);
}

Result<bool> Gunzip::has_input() {
  if (input_.empty()) input_ = TRY(source_());
  return !input_.empty();
}

// A file may have several members, one behind the other, and zeros at its end (gzip(1)). False:
// there is no other.
Result<bool> Gunzip::begin_member() {
  constexpr int kGzipAlone = MAX_WBITS + 16;
  if (!TRY(has_input())) return false;
  if (has_begun_ && input_.front() != '\x1f') return false;
  if (!is_open_ && ::inflateInit2(&zlib_, kGzipAlone) != Z_OK)
    return Error::because("no memory to unpack gzip");
  if (is_open_ && ::inflateReset(&zlib_) != Z_OK) return Error::because("gzip cannot be unpacked");
  is_open_ = is_within_ = has_begun_ = true;
  return true;
}

Result<std::string_view> Gunzip::next() {
  for (;;) {
    if (!is_within_ && !TRY(begin_member())) return std::string_view();
    if (!TRY(has_input())) return Error::because("truncated gzip input");
    zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input_.data()));
    const size_t given = std::min(input_.size(), kPiece);
    zlib_.avail_in = static_cast<uInt>(given);
    zlib_.next_out = reinterpret_cast<Bytef*>(piece_.data());
    zlib_.avail_out = static_cast<uInt>(piece_.size());
    const int status = ::inflate(&zlib_, Z_NO_FLUSH);
    input_.remove_prefix(given - zlib_.avail_in);
    if (status == Z_STREAM_END)
      is_within_ = false;
    else if (status != Z_OK && status != Z_BUF_ERROR)
      return Error::because(std::string("gzip: ") + (zlib_.msg ? zlib_.msg : "not readable"));
    const size_t made = piece_.size() - zlib_.avail_out;
    if (made > 0) return std::string_view(piece_.data(), made);
  }
}

}  // namespace images
