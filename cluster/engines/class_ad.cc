#include "cluster/engines/class_ad.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace cluster {

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::string_view without_blanks(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

ClassAd::ClassAd(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (const size_t sign = line.find('='); sign != line.npos) {
      values_[lower(without_blanks(line.substr(0, sign)))] =
          std::string(without_blanks(line.substr(sign + 1)));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::optional<int64_t> ClassAd::number(std::string_view name) const {
  const auto found = values_.find(lower(name));
  if (found == values_.end()) return std::nullopt;
  const std::string& text = found->second;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::string> ClassAd::string(std::string_view name) const {
  const auto found = values_.find(lower(name));
  if (found == values_.end()) return std::nullopt;
  const std::string& text = found->second;
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
  return text.substr(1, text.size() - 2);
}

}  // namespace cluster
