#include "runtime/judging/compare.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/values/utf8.h"

namespace runtime {
namespace {

constexpr size_t kShown = 80;
constexpr std::string_view kBlanks = " \t\r\f\v";
constexpr std::string_view kSpace = " \t\r\f\v\n";
constexpr unsigned kDeepest = 256;  // of JSON that is compared

std::string shown(std::string_view text) {
  std::string head = repaired_utf8(text.substr(0, kShown));
  return text.size() > kShown ? head + "..." : head;
}

std::string_view without_end(std::string_view text, std::string_view characters) {
  const size_t last = text.find_last_not_of(characters);
  return text.substr(0, last == text.npos ? 0 : last + 1);
}

// Takes the first line off.
std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// Takes the first token off; empty at the end.
std::string_view take_token(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  const std::string_view token = text.substr(0, text.find_first_of(kSpace));
  text.remove_prefix(token.size());
  return token;
}

std::optional<Mismatch> differ(const char* unit, size_t number, std::string_view expected,
                               std::string_view got) {
  return Mismatch{std::string(unit) + " " + std::to_string(number), shown(expected), shown(got)};
}

std::optional<Mismatch> compare_exact(std::string_view expected, std::string_view got) {
  if (expected == got) return std::nullopt;
  for (size_t line = 1;; ++line) {
    const std::string_view a = take_line(expected), b = take_line(got);
    // Beyond the last line only a final newline can differ.
    if (a != b || expected.empty() || got.empty()) return differ("line", line, a, b);
  }
}

std::optional<Mismatch> compare_lines(std::string_view expected, std::string_view got) {
  expected = without_end(expected, kSpace);
  got = without_end(got, kSpace);
  for (size_t line = 1; !expected.empty() || !got.empty(); ++line) {
    const std::string_view a = without_end(take_line(expected), kBlanks);
    const std::string_view b = without_end(take_line(got), kBlanks);
    if (a != b) return differ("line", line, a, b);
  }
  return std::nullopt;
}

bool near(double expected, double got, double tolerance) {
  if (expected == got || (std::isnan(expected) && std::isnan(got))) return true;
  if (!std::isfinite(expected)) return false;  // the tolerance would be as infinite
  const double distance = std::fabs(expected - got);
  return distance <= tolerance || distance <= tolerance * std::fabs(expected);
}

bool same_token(std::string_view a, std::string_view b, std::optional<double> tolerance) {
  if (a == b) return true;
  if (!tolerance) return false;
  const std::optional<double> x = number_of(a), y = number_of(b);
  return x && y && near(*x, *y, *tolerance);
}

std::optional<Mismatch> compare_tokens(std::string_view expected, std::string_view got,
                                       std::optional<double> tolerance) {
  for (size_t number = 1;; ++number) {
    const std::string_view a = take_token(expected), b = take_token(got);
    if (a.empty() && b.empty()) return std::nullopt;
    if (!same_token(a, b, tolerance)) return differ("token", number, a, b);
  }
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

bool within(const TokenRules& rules, double expected, double got) {
  if (expected == got || (std::isnan(expected) && std::isnan(got))) return true;
  if (!std::isfinite(expected)) return false;  // the tolerance would be as infinite
  const double distance = std::fabs(expected - got);
  return (rules.absolute && distance <= *rules.absolute) ||
         (rules.relative && distance <= *rules.relative * std::fabs(expected));
}

bool same_by(const TokenRules& rules, std::string_view expected, std::string_view got) {
  if (expected == got) return true;
  if (expected.empty() || got.empty()) return false;
  if (rules.absolute || rules.relative) {
    const std::optional<double> x = number_of(expected);
    if (x) {
      const std::optional<double> y = number_of(got);
      return y && within(rules, *x, *y);
    }
  }
  return !rules.case_counts && same_letters(expected, got);
}

// Takes the white space at the front off.
std::string_view take_space(std::string_view& text) {
  const std::string_view space =
      text.substr(0, std::min(text.find_first_not_of(kSpace), text.size()));
  text.remove_prefix(space.size());
  return space;
}

using nlohmann::json;

bool is_deep(std::string_view text) {
  unsigned depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if ((c == '[' || c == '{') && ++depth > kDeepest) {
      return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

Mismatch differ_at(std::string where, const json& expected, const json& got) {
  auto text = [](const json& value) {
    return shown(value.dump(-1, ' ', false, json::error_handler_t::replace));
  };
  return {where.empty() ? "the value" : std::move(where), text(expected), text(got)};
}

bool same_number(const json& a, const json& b, double tolerance) {
  if (a == b) return true;
  return near(a.get<double>(), b.get<double>(), tolerance) &&
         (tolerance > 0 || a.is_number_float() || b.is_number_float());
}

std::optional<Mismatch> compare_values(const json& a, const json& b, double tolerance,
                                       const std::string& where) {
  if (a.is_number() && b.is_number())
    return same_number(a, b, tolerance) ? std::nullopt : std::optional(differ_at(where, a, b));
  if (a.is_array() && b.is_array() && a.size() == b.size()) {
    for (size_t i = 0; i < a.size(); ++i) {
      const std::string here = where + "[" + std::to_string(i) + "]";
      if (auto found = compare_values(a[i], b[i], tolerance, here)) return found;
    }
    return std::nullopt;
  }
  if (a.is_object() && b.is_object() && a.size() == b.size()) {
    for (const auto& [key, value] : a.items()) {
      const std::string here = where + "[\"" + shown(key) + "\"]";
      auto other = b.find(key);
      if (other == b.end()) return Mismatch{here, "present", "missing"};
      if (auto found = compare_values(value, *other, tolerance, here)) return found;
    }
    return std::nullopt;
  }
  return a == b ? std::nullopt : std::optional(differ_at(where, a, b));
}

std::optional<Mismatch> compare_json(std::string_view expected, std::string_view got,
                                     double tolerance) {
  if (is_deep(expected) || is_deep(got))
    return Mismatch{"the value", "at most 256 levels", "nested more deeply"};
  const json a = json::parse(expected, nullptr, false), b = json::parse(got, nullptr, false);
  if (a.is_discarded()) return Mismatch{"the expected text", "JSON", shown(expected)};
  if (b.is_discarded()) return Mismatch{"the output", "JSON", shown(got)};
  return compare_values(a, b, tolerance, "");
}

}  // namespace

std::optional<double> number_of(std::string_view token) {
  if (!token.empty() && token.front() == '+') token.remove_prefix(1);
  double value = 0;
  auto [end, problem] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (problem != std::errc{} || end != token.data() + token.size()) return std::nullopt;
  return value;
}

std::optional<Mismatch> compare(Comparator comparator, double tolerance, std::string_view expected,
                                std::string_view got) {
  switch (comparator) {
    case Comparator::kExact:
      return compare_exact(expected, got);
    case Comparator::kLines:
      return compare_lines(expected, got);
    case Comparator::kTokens:
      return compare_tokens(expected, got, std::nullopt);
    case Comparator::kFloat:
      return compare_tokens(expected, got, tolerance);
    case Comparator::kJson:
      return compare_json(expected, got, tolerance);
    case Comparator::kAlike:
      return compare_alike(tolerance, expected, got);
    case Comparator::kValue:
      return compare_exact_values(expected, got, false);
    case Comparator::kRules:
    case Comparator::kChecker:
      break;
  }
  return Mismatch{"nowhere", "", ""};
}

std::optional<Mismatch> compare(const TokenRules& rules, std::string_view expected,
                                std::string_view got) {
  for (size_t number = 1;; ++number) {
    const std::string_view space = take_space(expected), other = take_space(got);
    if (rules.space_counts && space != other)
      return differ("white space before token", number, space, other);
    const std::string_view a = take_token(expected), b = take_token(got);
    if (a.empty() && b.empty()) return std::nullopt;
    if (!same_by(rules, a, b)) return differ("token", number, a, b);
  }
}

std::optional<NamedComparator> comparator_named(std::string_view words) {
  if (words == "exact") return NamedComparator{Comparator::kExact, 0};
  if (words == "lines") return NamedComparator{Comparator::kLines, 0};
  if (words == "tokens") return NamedComparator{Comparator::kTokens, 0};
  if (words == "json") return NamedComparator{Comparator::kJson, 0};
  constexpr std::string_view kFloat = "float:";
  if (!words.starts_with(kFloat)) return std::nullopt;
  const std::optional<double> tolerance = number_of(words.substr(kFloat.size()));
  if (!tolerance || !std::isfinite(*tolerance) || *tolerance < 0) return std::nullopt;
  return NamedComparator{Comparator::kFloat, *tolerance};
}

}  // namespace runtime
