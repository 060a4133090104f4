#include "runtime/json_text.h"

#include <array>
#include <charconv>

#include "runtime/utf8.h"

namespace runtime {

namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<int8_t, 256> reversed_base64() {
  std::array<int8_t, 256> table{};
  for (auto& entry : table) entry = -1;
  for (size_t i = 0; i < kBase64.size(); ++i) {
    table[static_cast<uint8_t>(kBase64[i])] = static_cast<int8_t>(i);
  }
  return table;
}
constexpr std::array<int8_t, 256> kFromBase64 = reversed_base64();

bool needs_escape(char c) { return static_cast<uint8_t>(c) < 0x20 || c == '"' || c == '\\'; }

void append_escape(char c, std::string& out) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  out += "\\u00";
  out += kHex[static_cast<uint8_t>(c) >> 4];
  out += kHex[static_cast<uint8_t>(c) & 15];
}

void append_escaped(std::string_view utf8, std::string& out) {
  size_t begin = 0;
  for (size_t i = 0; i < utf8.size(); ++i) {
    if (!needs_escape(utf8[i])) continue;
    out.append(utf8.substr(begin, i - begin));
    append_escape(utf8[i], out);
    begin = i + 1;
  }
  out.append(utf8.substr(begin));
}

uint32_t octet(std::string_view bytes, size_t at) {
  return at < bytes.size() ? static_cast<uint8_t>(bytes[at]) : 0;
}

}  // namespace

Repair append_json_string(std::string_view text, std::string& out) {
  Repair repair = Repair::kNone;
  out += '"';
  while (true) {
    const size_t good = valid_utf8_prefix(text);
    append_escaped(text.substr(0, good), out);
    text.remove_prefix(good);
    if (text.empty()) break;
    out.append(kReplacementCharacter);
    text.remove_prefix(broken_utf8_length(text));
    repair = Repair::kReplaced;
  }
  out += '"';
  return repair;
}

void append_json_integer(int64_t value, std::string& out) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, static_cast<size_t>(end - digits));
}

void append_json_double(double value, std::string& out) {
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  const std::string_view text(digits, static_cast<size_t>(end - digits));
  out.append(text);
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

void append_base64(std::string_view bytes, std::string& out) {
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const uint32_t group = octet(bytes, i) << 16 | octet(bytes, i + 1) << 8 | octet(bytes, i + 2);
    out += kBase64[group >> 18];
    out += kBase64[group >> 12 & 63];
    out += i + 1 < bytes.size() ? kBase64[group >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? kBase64[group & 63] : '=';
  }
}

bool append_from_base64(std::string_view text, std::string& out) {
  if (text.size() % 4 != 0) return false;
  for (size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    const size_t padding = !last || text[i + 3] != '=' ? 0 : text[i + 2] != '=' ? 1 : 2;
    uint32_t group = 0;
    for (size_t k = 0; k < 4; ++k) {
      const int8_t bits =
          k < 4 - padding ? kFromBase64[static_cast<uint8_t>(text[i + k])] : int8_t{0};
      if (bits < 0) return false;
      group = group << 6 | static_cast<uint32_t>(bits);
    }
    for (size_t k = 0; k < 3 - padding; ++k) {
      out += static_cast<char>(group >> (16 - 8 * k) & 255);
    }
  }
  return true;
}

}  // namespace runtime
