#include "sandbox/probe/ids.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace sandbox {

namespace {

uint64_t take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n"), text.size()));
  uint64_t value = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(problem == std::errc{} ? static_cast<size_t>(end - text.data()) : text.size());
  return value;
}

}  // namespace

MappedIds largest_range(std::string_view map) {
  MappedIds largest;
  while (!map.empty()) {
    uint64_t inside = take_number(map);
    take_number(map);
    uint64_t count = take_number(map);
    if (count > largest.count) largest = {inside, count};
  }
  return largest;
}

std::optional<unsigned> spare_id(std::string_view map) {
  constexpr uint64_t kUsual = 100000;  // where distributions begin to hand out ids to containers
  const auto [first, length] = largest_range(map);
  if (length < 4) return std::nullopt;
  if (first <= kUsual && first + length > kUsual + 2) return static_cast<unsigned>(kUsual);
  return static_cast<unsigned>(first + length / 2);
}

}  // namespace sandbox
