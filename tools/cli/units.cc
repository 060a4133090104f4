#include "tools/cli/units.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

namespace cli {
namespace {

struct Unit {
  std::string_view suffix;  // lower case
  double factor;
};
constexpr double kKibi = 1024.0, kMebi = kKibi * 1024, kGibi = kMebi * 1024;
constexpr std::array<Unit, 11> kSizes{{{"", 1},
                                       {"b", 1},
                                       {"k", kKibi},
                                       {"kb", kKibi},
                                       {"kib", kKibi},
                                       {"m", kMebi},
                                       {"mb", kMebi},
                                       {"mib", kMebi},
                                       {"g", kGibi},
                                       {"gb", kGibi},
                                       {"gib", kGibi}}};
constexpr std::array<Unit, 4> kDurations{{{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}}};

constexpr double kLargestSize = 1024.0 * kGibi;            // 1 PiB: more is a slip of the hand
constexpr double kLongestDuration = 366.0 * 86400 * 1000;  // a year

// A plain decimal number and one of the suffixes; nothing for signs, exponents, "inf" and the like.
std::optional<double> scaled(std::string_view text, std::span<const Unit> units) {
  size_t digits = 0;
  while (digits < text.size() &&
         (std::isdigit(static_cast<unsigned char>(text[digits])) != 0 || text[digits] == '.')) {
    ++digits;
  }
  double number = 0;
  const char* end = text.data() + digits;
  auto [stop, failure] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (digits == 0 || failure != std::errc() || stop != end) return std::nullopt;

  std::string suffix;
  for (char c : text.substr(digits)) {
    if (c != ' ') suffix += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const Unit& unit : units) {
    if (unit.suffix == suffix) return number * unit.factor;
  }
  return std::nullopt;
}

}  // namespace

sys::Result<sys::Bytes> parse_size(std::string_view text) {
  std::optional<double> bytes = scaled(text, kSizes);
  if (!bytes) {
    return sys::Error::because(fmt::format("\"{}\" is not a size; write e.g. 256M or 1G", text));
  }
  if (*bytes > kLargestSize) {
    return sys::Error::because(fmt::format("\"{}\" is too large a size; the most is 1024G", text));
  }
  return sys::Bytes{static_cast<uint64_t>(std::llround(*bytes))};
}

sys::Result<sys::Milliseconds> parse_duration(std::string_view text) {
  std::optional<double> milliseconds = scaled(text, kDurations);
  if (!milliseconds) {
    return sys::Error::because(
        fmt::format("\"{}\" is not a duration; write e.g. 500ms, 2s or 1m", text));
  }
  if (*milliseconds > kLongestDuration || std::llround(*milliseconds) < 1) {
    return sys::Error::because(
        fmt::format("\"{}\" is out of range; a duration is between 1ms and a year", text));
  }
  return sys::Milliseconds(std::llround(*milliseconds));
}

std::string format_size(uint64_t bytes) {
  constexpr std::array<std::string_view, 4> kNames{"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kNames.size()) {
    value /= 1024;
    ++unit;
  }
  std::string digits = fmt::format("{:.1f}", value);
  if (digits.ends_with(".0")) digits.resize(digits.size() - 2);
  return digits + " " + std::string(kNames[unit]);
}

}  // namespace cli
