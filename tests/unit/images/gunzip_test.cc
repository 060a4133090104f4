#include "images/archive/gunzip.h"

#include <catch2/catch.hpp>
#include <string>

namespace images {
namespace {

std::string packed(const std::string& text, int level = 6) {
  z_stream zlib{};
  REQUIRE(::deflateInit2(&zlib, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(::deflateBound(&zlib, text.size()) + 64, '\0');
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  zlib.avail_in = static_cast<uInt>(text.size());
  zlib.next_out = reinterpret_cast<Bytef*>(out.data());
  zlib.avail_out = static_cast<uInt>(out.size());
  REQUIRE(::deflate(&zlib, Z_FINISH) == Z_STREAM_END);
  out.resize(zlib.total_out);
  ::deflateEnd(&zlib);
  return out;
}

// The content, or "!" and why there is none.
std::string unpacked(std::string file, size_t slice = 1 << 20) {
  Gunzip gunzip([left = std::string_view(file), slice]() mutable -> sys::Result<std::string_view> {
    const std::string_view piece = left.substr(0, slice);
    left.remove_prefix(piece.size());
    return piece;
  });
  std::string all;
  for (;;) {
    const sys::Result<std::string_view> piece = gunzip.next();
    if (!piece) return "!" + piece.error().text();
    if (piece->empty()) return all;
    all += *piece;
  }
}

}  // namespace

TEST_CASE("gzip is unpacked in whatever slices, members one behind the other", "[gunzip]") {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i);
  const std::string file = packed(text);
  for (const size_t slice : {size_t{1000}, size_t{4096}, size_t{1} << 20})
    CHECK(unpacked(file, slice) == text);
  CHECK(unpacked(packed("a"), 1) == "a");
  CHECK(unpacked(packed("a") + packed("") + packed("b"), 3) == "ab");
  CHECK(unpacked(packed("a") + std::string(512, '\0')) == "a");
  CHECK(unpacked(packed("")).empty());
}

TEST_CASE("gzip that was cut or changed is no content", "[gunzip]") {
  const std::string file = packed(std::string(5000, 'x') + "y", 0);
  for (const size_t size : {size_t{5}, size_t{3000}, file.size() - 9, file.size() - 1})
    CHECK(unpacked(file.substr(0, size)) == "!truncated gzip input");
  std::string changed = file;
  changed[3000] ^= 1;
  CHECK(unpacked(changed) == "!gzip: incorrect data check");
  changed = file;
  changed.back() ^= 1;
  CHECK(unpacked(changed) == "!gzip: incorrect length check");
}

}  // namespace images
