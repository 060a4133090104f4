#pragma once
// Fields of a package's YAML as values of ours, for every version of the format. Errors name the
// field and its line. Pure.

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/result.h"
#include "tools/cli/judge/package/yaml.h"

namespace cli {

sys::Error wrong_field(const std::string& field, const YamlValue& at, std::string_view why);

// The root of a file: a map, or nothing at all.
sys::Result<YamlValue> map_in(std::string_view text);
sys::Result<void> expect_map(const std::string& field, const YamlValue& value);

sys::Result<std::string> text_in(const std::string& field, const YamlValue& value);
sys::Result<double> number_in(const std::string& field, const YamlValue& value, double least,
                              double most);
// The words of one string.
sys::Result<std::vector<std::string>> words_in(const std::string& field, const YamlValue& value);
// The items of a sequence of strings.
sys::Result<std::vector<std::string>> strings_in(const std::string& field, const YamlValue& value);
// One name, or one per language: the English one, else the first.
sys::Result<std::string> name_in(const YamlValue& value);

// A decimal number in [least, most] and nothing else; nothing where it is not.
std::optional<double> number_between(std::string_view text, double least, double most);

template <size_t N>
bool one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The words between white space.
std::vector<std::string> words_of(std::string_view text);

}  // namespace cli
