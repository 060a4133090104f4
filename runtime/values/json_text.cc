#include "runtime/values/json_text.h"

#include <array>
#include <charconv>

#include "runtime/values/utf8.h"

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

// What a reader of the text on a terminal would not see as it is, or not at all: C0 and C1
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
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const uint32_t group = octet(bytes, i) << 16 | octet(bytes, i + 1) << 8 | octet(bytes, i + 2);
    const char text[] = {kBase64[group >> 18], kBase64[group >> 12 & 63],
                         i + 1 < bytes.size() ? kBase64[group >> 6 & 63] : '=',
                         i + 2 < bytes.size() ? kBase64[group & 63] : '='};
    out.append(text, sizeof text);
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
