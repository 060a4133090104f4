#include "tools/cli/top/foreign_json.h"

#include <fmt/format.h>

namespace cli::foreign {

namespace {

constexpr size_t kDeepest = 8;       // levels of nesting that our answers never reach
constexpr double kLargest = 9.0e15;  // of any number: a double still counts one by one

bool too_deep(std::string_view text) {
  size_t depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (in_string && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      in_string = !in_string;
    } else if (!in_string && (text[i] == '[' || text[i] == '{')) {
      if (++depth > kDeepest) return true;
    } else if (!in_string && (text[i] == ']' || text[i] == '}')) {
      depth -= depth > 0 ? 1 : 0;
    }
  }
  return false;
}

}  // namespace

sys::Result<json> read(std::string_view bytes, const char* what) {
  json all;
  if (!too_deep(bytes)) all = json::parse(bytes, nullptr, false);
  if (!all.is_object()) return sys::Error::because(fmt::format("{} cannot be read", what));
  return all;
}

const json& at(const json& object, const char* key) {
  static const json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

int64_t number_of(const json& value) {
  if (!value.is_number()) return 0;
  return static_cast<int64_t>(std::clamp(value.get<double>(), 0.0, kLargest));
}

int64_t number(const json& object, const char* key) { return number_of(at(object, key)); }

std::string text(const json& object, const char* key) {
  const json& value = at(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

}  // namespace cli::foreign
