#include "runtime/values/json_text.h"

#include <openssl/evp.h>

#include <charconv>

#include "runtime/values/utf8.h"

namespace runtime {

namespace {

constexpr std::string_view kHex = "0123456789abcdef";
// In base64, 4 characters are 3 bytes. OpenSSL counts in int, so a long text goes in pieces.
constexpr size_t kGroup = 4, kPiece = kGroup << 20;

// Finds what a reader of the text on a terminal would not see as it is, or not at all: C0 and C1
// controls, marks that turn the direction of writing, line and paragraph separators. The first
// bytes tell.
bool may_need_escape(char c) {
  const auto byte = static_cast<uint8_t>(c);
  return byte < 0x20 || c == '"' || c == '\\' || byte == 0x7F || byte == 0xC2 || byte == 0xD8 ||
         byte == 0xE2;
}

struct Wide {
  uint32_t code_point = 0;  // 0: none of those
  size_t size = 0;
};

// `rest` is valid UTF-8 and begins with a lead byte of two or three.
Wide wide_control(std::string_view rest) {
  const auto at = [rest](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(rest[i])); };
  if (at(0) == 0xC2) return at(1) < 0xA0 ? Wide{at(1), 2} : Wide{};
  if (at(0) == 0xD8) return at(1) == 0x9C ? Wide{0x061C, 2} : Wide{};
  const uint32_t c = 0x2000 | (at(1) & 0x3F) << 6 | (at(2) & 0x3F);
  const bool turns =
      c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  return turns || c == 0x2028 || c == 0x2029 ? Wide{c, 3} : Wide{};
}

void append_code_point(uint32_t c, std::string& out) {
  const char text[] = {'\\',        'u', kHex[c >> 12 & 15], kHex[c >> 8 & 15], kHex[c >> 4 & 15],
                       kHex[c & 15]};
  out.append(text, sizeof text);
}

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
  append_code_point(static_cast<uint8_t>(c), out);
}

void append_escaped(std::string_view utf8, std::string& out) {
  size_t begin = 0;
  for (size_t i = 0; i < utf8.size(); ++i) {
    if (!may_need_escape(utf8[i])) continue;
    const bool wide = static_cast<uint8_t>(utf8[i]) >= 0x80;
    const Wide control = wide ? wide_control(utf8.substr(i)) : Wide{};
    if (wide && control.size == 0) continue;
    out.append(utf8.substr(begin, i - begin));
    if (wide) {
      append_code_point(control.code_point, out);
      i += control.size - 1;
    } else {
      append_escape(utf8[i], out);
    }
    begin = i + 1;
  }
  out.append(utf8.substr(begin));
}

unsigned char* octets(char* bytes) { return reinterpret_cast<unsigned char*>(bytes); }
const unsigned char* octets(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
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

size_t unseen_length(std::string_view utf8) {
  if (utf8.empty() || !may_need_escape(utf8[0]) || utf8[0] == '"' || utf8[0] == '\\') return 0;
  return static_cast<uint8_t>(utf8[0]) < 0x80 ? 1 : wide_control(utf8).size;
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
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kPiece / kGroup * 3);
    const size_t before = out.size();
    out.resize(before + (piece.size() + 2) / 3 * kGroup);
    EVP_EncodeBlock(octets(&out[before]), octets(piece), static_cast<int>(piece.size()));
    bytes.remove_prefix(piece.size());
  }
}

// OpenSSL drops blanks at both ends, which shows in the length, and takes any '=' for a zero.
bool append_from_base64(std::string_view text, std::string& out) {
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  if (text.size() % kGroup != 0 || text.find('=') < text.size() - padding) return false;
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, kPiece);
    const size_t before = out.size(), size = piece.size() / kGroup * 3;
    out.resize(before + size);
    const int decoded =
        EVP_DecodeBlock(octets(&out[before]), octets(piece), static_cast<int>(piece.size()));
    if (decoded != static_cast<int>(size)) return false;
    text.remove_prefix(piece.size());
  }
  out.resize(out.size() - padding);
  return true;
}

}  // namespace runtime
