#include "runtime/values/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace runtime {

namespace {

uint8_t byte_at(std::string_view bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }

// The shape that a lead byte calls for: the number of bytes in all, and the range of the second,
// where overlong forms, surrogates and code points past U+10FFFF show (Unicode 15, table 3-7).
struct Shape {
  size_t length;
  uint8_t low, high;
};

Shape shape_of(uint8_t lead) {
  if (lead < 0x80) return {1, 0, 0};
  if (lead < 0xC2) return {0, 0, 0};
  if (lead < 0xE0) return {2, 0x80, 0xBF};
  if (lead == 0xE0) return {3, 0xA0, 0xBF};
  if (lead == 0xED) return {3, 0x80, 0x9F};
  if (lead < 0xF0) return {3, 0x80, 0xBF};
  if (lead == 0xF0) return {4, 0x90, 0xBF};
  if (lead < 0xF4) return {4, 0x80, 0xBF};
  if (lead == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

// How many bytes at `at` fit the shape of their lead byte.
size_t matched(std::string_view bytes, size_t at, const Shape& shape) {
  size_t count = 1;
  while (count < shape.length && at + count < bytes.size()) {
    const uint8_t next = byte_at(bytes, at + count);
    const uint8_t low = count == 1 ? shape.low : uint8_t{0x80};
    const uint8_t high = count == 1 ? shape.high : uint8_t{0xBF};
    if (next < low || next > high) break;
    ++count;
  }
  return count;
}

// Past eight ASCII bytes at a time, then one at a time.
size_t skip_ascii(std::string_view bytes, size_t at) {
  while (at + 8 <= bytes.size()) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    if (word & 0x8080808080808080u) break;
    at += 8;
  }
  while (at < bytes.size() && byte_at(bytes, at) < 0x80) ++at;
  return at;
}

bool continues(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }

}  // namespace

size_t valid_utf8_prefix(std::string_view bytes) {
  size_t at = 0;
  while (true) {
    at = skip_ascii(bytes, at);
    if (at == bytes.size()) return at;
    const Shape shape = shape_of(byte_at(bytes, at));
    if (shape.length == 0 || matched(bytes, at, shape) != shape.length) return at;
    at += shape.length;
  }
}

size_t broken_utf8_length(std::string_view bytes) {
  const Shape shape = shape_of(byte_at(bytes, 0));
  return shape.length == 0 ? 1 : matched(bytes, 0, shape);
}

std::string repaired_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (true) {
    const size_t good = valid_utf8_prefix(bytes);
    out.append(bytes.substr(0, good));
    bytes.remove_prefix(good);
    if (bytes.empty()) return out;
    out.append(kReplacementCharacter);
    bytes.remove_prefix(broken_utf8_length(bytes));
  }
}

std::string_view utf8_head(std::string_view text, size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && continues(text[limit])) --limit;
  return text.substr(0, limit);
}

std::string_view utf8_tail(std::string_view text, size_t limit) {
  if (text.size() <= limit) return text;
  size_t begin = text.size() - limit;
  while (begin < text.size() && continues(text[begin])) ++begin;
  return text.substr(begin);
}

size_t whole_characters(std::string_view bytes) {
  for (size_t back = 1; back <= std::min<size_t>(3, bytes.size()); ++back) {
    const auto byte = static_cast<unsigned char>(bytes[bytes.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    // 0xC0, 0xC1 and those from 0xF5 on begin nothing.
    const bool begins = byte >= 0xC2 && byte < 0xF5;
    const size_t length = !begins ? 1 : byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    return length > back ? bytes.size() - back : bytes.size();
  }
  return bytes.size();
}

}  // namespace runtime
