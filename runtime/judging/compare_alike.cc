// Lines that are alike, in the eyes of a judge that forgives letters and notations.

#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "runtime/judging/compare.h"
#include "runtime/values/utf8.h"

namespace runtime {

namespace {

constexpr size_t kExcerpt = 80;
constexpr double kLeast = 1e-10;  // what is nearer to nothing is measured by it

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

size_t length_of_first(std::string_view text) {
  size_t length = 1;
  while (length < text.size() && is_continuation(text[length])) ++length;
  return length;
}

// The first character of valid UTF-8.
char32_t first_of(std::string_view text) {
  const size_t length = length_of_first(text);
  const auto lead = static_cast<unsigned char>(text.front());
  if (length == 1) return lead;
  char32_t character = lead & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i)
    character = character << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  return character;
}

void append(char32_t character, std::string& text) {
  auto put = [&text](char32_t bits) { text += static_cast<char>(bits); };
  if (character < 0x80) return put(character);
  if (character < 0x800) {
    put(0xC0 | character >> 6);
  } else if (character < 0x10000) {
    put(0xE0 | character >> 12);
    put(0x80 | (character >> 6 & 0x3F));
  } else {
    put(0xF0 | character >> 18);
    put(0x80 | (character >> 12 & 0x3F));
    put(0x80 | (character >> 6 & 0x3F));
  }
  put(0x80 | (character & 0x3F));
}

// All white space of Unicode, the separators of ASCII among it.
bool is_space(char32_t c) {
  if (c <= ' ') return (c >= '\t' && c <= '\r') || (c >= 0x1C && c <= ' ');
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::string_view stripped(std::string_view text) {
  while (!text.empty() && is_space(first_of(text))) text.remove_prefix(length_of_first(text));
  while (!text.empty()) {
    size_t last = text.size() - 1;
    while (last > 0 && is_continuation(text[last])) --last;
    if (!is_space(first_of(text.substr(last)))) break;
    text.remove_suffix(text.size() - last);
  }
  return text;
}

char32_t lower(char32_t character) {
  if (character < 0x80)
    return character >= 'A' && character <= 'Z' ? character - 'A' + 'a' : character;
  // Letters that only a locale knows; that of C knows them all, as Unicode has them.
  static const locale_t kLetters = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (!kLetters) return character;
  return static_cast<char32_t>(::towlower_l(static_cast<wint_t>(character), kLetters));
}

std::string in_lower_case(std::string_view text) {
  std::string made;
  made.reserve(text.size());
  while (!text.empty()) {
    append(lower(first_of(text)), made);
    text.remove_prefix(length_of_first(text));
  }
  return made;
}

bool alike(double tolerance, std::string_view expected, std::string_view got) {
  if (expected == got || in_lower_case(expected) == in_lower_case(got)) return true;
  const std::optional<double> x = number_of(expected), y = number_of(got);
  return x && y && std::fabs(*y - *x) / std::max(std::fabs(*x), kLeast) < tolerance;
}

// Nothing when there is none left, which is not the same as one without words.
std::optional<std::string_view> take_line(std::optional<std::string_view>& text) {
  if (!text) return std::nullopt;
  const size_t end = text->find('\n');
  const std::string_view line = text->substr(0, end);
  end == text->npos ? text.reset() : text->remove_prefix(end + 1);
  return stripped(line);
}

std::string excerpt_of(std::string_view line) {
  const std::string_view head = utf8_head(line, kExcerpt);
  return std::string(head) + (head.size() < line.size() ? "..." : "");
}

}  // namespace

std::optional<Mismatch> compare_alike(double tolerance, std::string_view expected,
                                      std::string_view got) {
  const std::string ours = repaired_utf8(expected), theirs = repaired_utf8(got);
  std::optional<std::string_view> a = stripped(ours), b = stripped(theirs);
  for (size_t number = 1; a || b; ++number) {
    const std::optional<std::string_view> x = take_line(a), y = take_line(b);
    if (!x || !y || !alike(tolerance, *x, *y))
      return Mismatch{"line " + std::to_string(number), excerpt_of(x.value_or("")),
                      excerpt_of(y.value_or(""))};
  }
  return std::nullopt;
}

}  // namespace runtime
