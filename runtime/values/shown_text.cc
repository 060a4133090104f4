#include "runtime/values/shown_text.h"

#include <fmt/format.h>

#include <cstdint>

#include "runtime/values/utf8.h"

namespace runtime {
namespace {

struct CodePoint {
  uint32_t value = 0;
  size_t size = 0;  // 0: not UTF-8
};

CodePoint decode(std::string_view bytes) {
  if (valid_utf8_prefix(bytes.substr(0, 4)) == 0) return {};
  auto lead = static_cast<uint8_t>(bytes[0]);
  if (lead < 0x80) return {lead, 1};
  size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  uint32_t value = lead & (0xffu >> (size + 1));
  for (size_t i = 1; i < size; ++i) value = value << 6 | (static_cast<uint8_t>(bytes[i]) & 0x3fu);
  return {value, size};
}

bool moves_or_hides(uint32_t c) {
  bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
  bool direction = c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
                   (c >= 0x2066 && c <= 0x2069);
  return control || direction;
}

std::string escape_of(uint32_t c) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
  }
  return c < 0x100 ? fmt::format("\\x{:02x}", c) : fmt::format("\\u{:04x}", c);
}

}  // namespace

std::string escape_controls(std::string_view bytes, Lines lines) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    CodePoint c = decode(bytes);
    size_t size = c.size == 0 ? 1 : c.size;
    bool kept_line = lines == Lines::kKeep && (c.value == '\n' || c.value == '\t');
    if (c.size == 0) {
      out += fmt::format("\\x{:02x}", static_cast<uint8_t>(bytes[0]));
    } else if (moves_or_hides(c.value) && !kept_line) {
      out += escape_of(c.value);
    } else {
      out += bytes.substr(0, size);
    }
    bytes.remove_prefix(size);
  }
  return out;
}

size_t columns_of(std::string_view text) {
  size_t count = 0;
  for (char c : text) count += (static_cast<uint8_t>(c) & 0xc0) != 0x80;
  return count;
}

std::string clip(std::string_view text, size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  size_t seen = 0, end = 0;
  for (; end < text.size(); ++end) {
    bool starts = (static_cast<uint8_t>(text[end]) & 0xc0) != 0x80;
    if (starts && seen++ == columns - 1) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace runtime
