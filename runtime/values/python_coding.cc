#include "runtime/values/python_coding.h"

#include <algorithm>
#include <string>

namespace runtime {

namespace {

constexpr std::string_view kBlanks = " \t\f";

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text;
}

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

// ^[ \t\f]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)
std::string_view coding_in(std::string_view line) {
  constexpr std::string_view kWord = "coding";
  line = without_blanks(line);
  if (!line.starts_with('#')) return {};
  for (size_t at = line.find(kWord); at != line.npos; at = line.find(kWord, at + 1)) {
    std::string_view rest = line.substr(at + kWord.size());
    if (!rest.starts_with(':') && !rest.starts_with('=')) continue;
    rest = without_blanks(rest.substr(1));
    const auto end = std::find_if_not(rest.begin(), rest.end(), is_of_name);
    if (end != rest.begin()) return rest.substr(0, static_cast<size_t>(end - rest.begin()));
  }
  return {};
}

bool is_utf8_by_name(std::string_view name) {
  std::string plain(name);
  std::transform(plain.begin(), plain.end(), plain.begin(), [](char c) {
    return c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  });
  return plain == "utf8" || plain == "utf-8" || plain.starts_with("utf-8-");
}

}  // namespace

std::string_view python_coding(std::string_view source) {
  if (source.starts_with(kByteOrderMark)) source.remove_prefix(kByteOrderMark.size());
  for (int line_number = 0; line_number < 2; ++line_number) {
    const size_t end = std::min(source.find_first_of("\r\n"), source.size());
    const std::string_view line = source.substr(0, end);
    if (const std::string_view name = coding_in(line); !name.empty())
      return is_utf8_by_name(name) ? std::string_view() : name;
    // The second line counts only below a comment or nothing.
    const std::string_view code = without_blanks(line);
    if (!code.empty() && !code.starts_with('#')) return {};
    source.remove_prefix(
        std::min(end + (source.substr(end).starts_with("\r\n") ? 2 : 1), source.size()));
  }
  return {};
}

}  // namespace runtime
