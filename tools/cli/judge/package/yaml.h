#pragma once
// The part of YAML that problem packages need, read strictly: one document of maps, lists and
// plain or quoted scalars. Anchors, aliases, tags, keys that are no scalars and keys given twice
// are errors, and so is text that is long, deep or not UTF-8. The only place that knows yaml-cpp;
// its exceptions stay inside. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/result.h"

namespace cli {

struct YamlField;

struct YamlValue {
  enum class Kind { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  int line = 0;        // where it begins, from 1
  std::string scalar;  // as written, without quotes
  std::vector<YamlValue> items;
  std::vector<YamlField> fields;  // in their order
};

struct YamlField {
  std::string key;
  YamlValue value;
};

inline constexpr size_t kLongestYaml = 65536;  // bytes
inline constexpr size_t kMostYamlValues = 4096;
inline constexpr size_t kDeepestYaml = 8;

// Empty text is kNull. An error begins with "line N: ".
sys::Result<YamlValue> parse_yaml(std::string_view text);

}  // namespace cli
