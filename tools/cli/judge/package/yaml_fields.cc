#include "tools/cli/judge/package/yaml_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace cli {
namespace {

using YamlKind = YamlValue::Kind;

constexpr size_t kMostWords = 64;

}  // namespace

sys::Error wrong_field(const std::string& field, const YamlValue& at, std::string_view why) {
  return sys::Error::because(at.line > 0 ? fmt::format("{}: {} (line {})", field, why, at.line)
                                         : fmt::format("{}: {}", field, why));
}

sys::Result<YamlValue> map_in(std::string_view text) {
  YamlValue root = TRY(parse_yaml(text));
  if (root.kind != YamlKind::kMap && root.kind != YamlKind::kNull)
    return sys::Error::because("expected a map of fields");
  return root;
}

sys::Result<void> expect_map(const std::string& field, const YamlValue& value) {
  if (value.kind != YamlKind::kMap && value.kind != YamlKind::kNull)
    return wrong_field(field, value, "expected a map");
  return {};
}

sys::Result<std::string> text_in(const std::string& field, const YamlValue& value) {
  if (value.kind == YamlKind::kNull) return std::string();
  if (value.kind != YamlKind::kScalar) return wrong_field(field, value, "expected a string");
  return value.scalar;
}

sys::Result<double> number_in(const std::string& field, const YamlValue& value, double least,
                              double most) {
  if (value.kind == YamlKind::kScalar) {
    if (auto number = number_between(value.scalar, least, most)) return *number;
  }
  return wrong_field(field, value, fmt::format("expected a number from {} to {}", least, most));
}

sys::Result<std::vector<std::string>> words_in(const std::string& field, const YamlValue& value) {
  std::vector<std::string> words = words_of(TRY(text_in(field, value)));
  if (words.size() > kMostWords)
    return wrong_field(field, value, fmt::format("more than {} words", kMostWords));
  return words;
}

sys::Result<std::vector<std::string>> strings_in(const std::string& field, const YamlValue& value) {
  if (value.kind == YamlKind::kNull) return std::vector<std::string>();
  if (value.kind != YamlKind::kList) return wrong_field(field, value, "expected a list of strings");
  if (value.items.size() > kMostWords)
    return wrong_field(field, value, fmt::format("more than {} strings", kMostWords));
  std::vector<std::string> strings;
  for (const YamlValue& item : value.items) {
    if (item.kind != YamlKind::kScalar)
      return wrong_field(field, item, "expected a list of strings");
    strings.push_back(item.scalar);
  }
  return strings;
}

sys::Result<std::string> name_in(const YamlValue& value) {
  if (value.kind != YamlKind::kMap) return text_in("name", value);
  std::string name;
  for (const auto& [language, text] : value.fields) {
    const std::string its = TRY(text_in("name." + language, text));
    if (name.empty() || language == "en") name = its;
  }
  return name;
}

std::optional<double> number_between(std::string_view text, double least, double most) {
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(number) || number < least || number > most) return std::nullopt;
  return number;
}

std::vector<std::string> words_of(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\f\v";
  std::vector<std::string> words;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
    if (text.empty()) return words;
    const std::string_view word = text.substr(0, text.find_first_of(kSpace));
    words.emplace_back(word);
    text.remove_prefix(word.size());
  }
}

}  // namespace cli
