#include "service/apis/piston/semver.h"

#include <fmt/format.h>

#include <charconv>
#include <climits>
#include <vector>

namespace service {

namespace {

constexpr std::string_view kDigits = "0123456789";

// As many numbers as are given; "x", "X" and "*" end them.
struct Partial {
  std::vector<unsigned> numbers;
};

bool is_wild(std::string_view part) { return part == "x" || part == "X" || part == "*"; }

std::optional<Partial> read_partial(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  Partial made;
  if (text.empty()) return made;
  bool wild = false;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t dot = std::min(text.find('.', begin), text.size());
    const std::string_view part = text.substr(begin, dot - begin);
    begin = dot + 1;
    if (is_wild(part)) {
      wild = true;
      continue;
    }
    unsigned number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size() || wild) return std::nullopt;
    made.numbers.push_back(number);
  }
  if (made.numbers.size() > 3) return std::nullopt;
  return made;
}

Version lowest(const Partial& partial) {
  Version version{};
  for (size_t i = 0; i < partial.numbers.size(); ++i) version[i] = partial.numbers[i];
  return version;
}

// The first version above all that begin with the first `count` numbers; nothing: there is none.
std::optional<Version> above(const Partial& partial, size_t count) {
  if (count == 0 || partial.numbers[count - 1] == UINT_MAX) return std::nullopt;
  Version version{};
  for (size_t i = 0; i < count; ++i) version[i] = partial.numbers[i];
  ++version[count - 1];
  return version;
}

// How many leading numbers "^" keeps: up to the first that is not zero.
size_t kept_by_caret(const Partial& partial) {
  for (size_t i = 0; i < partial.numbers.size(); ++i) {
    if (partial.numbers[i] != 0) return i + 1;
  }
  return partial.numbers.size();
}

bool matches(const Version& version, std::string_view comparator) {
  std::string_view sign;
  for (std::string_view one : {"^", "~", ">=", "<=", ">", "<", "="}) {
    if (comparator.starts_with(one)) {
      sign = one;
      break;
    }
  }
  const std::optional<Partial> partial = read_partial(comparator.substr(sign.size()));
  if (!partial) return false;
  const size_t given = partial->numbers.size();
  const Version low = lowest(*partial);
  const auto below = [&](size_t count) {
    const std::optional<Version> end = above(*partial, count);
    return !end || version < *end;
  };
  if (sign == ">=") return version >= low;
  if (sign == "<") return version < low;
  if (sign == ">") return given > 0 && !below(given);
  if (sign == "<=") return below(given);
  if (sign == "^") return version >= low && below(kept_by_caret(*partial));
  if (sign == "~") return version >= low && below(std::min<size_t>(given, 2));
  return version >= low && below(given);
}

bool in_all(const Version& version, std::string_view comparators) {
  for (size_t at = 0; at < comparators.size();) {
    const size_t end = std::min(comparators.find(' ', at), comparators.size());
    if (end > at && !matches(version, comparators.substr(at, end - at))) return false;
    at = end + 1;
  }
  return true;
}

}  // namespace

std::optional<Version> version_in(std::string_view text) {
  for (size_t at = text.find_first_of(kDigits); at != text.npos;
       at = text.find_first_of(kDigits, at)) {
    const size_t end = std::min(text.find_first_not_of("0123456789.", at), text.size());
    std::string_view found = text.substr(at, end - at);
    while (found.ends_with('.')) found.remove_suffix(1);
    const std::optional<Partial> partial = read_partial(found);
    if (partial && partial->numbers.size() >= 2) return lowest(*partial);
    at = end;
  }
  return std::nullopt;
}

std::string text_of(const Version& version) {
  return fmt::format("{}.{}.{}", version[0], version[1], version[2]);
}

bool in_range(const Version& version, std::string_view range) {
  for (size_t at = 0; at <= range.size();) {
    const size_t end = std::min(range.find("||", at), range.size());
    if (in_all(version, range.substr(at, end - at))) return true;
    at = end + 2;
  }
  return false;
}

}  // namespace service
