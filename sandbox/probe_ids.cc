#include "sandbox/probe_ids.h"

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

std::optional<unsigned> spare_id(std::string_view map) {
  constexpr uint64_t kUsual = 100000;  // where distributions begin to hand out ids to containers
  uint64_t first = 0;
  uint64_t length = 0;
  while (!map.empty()) {
    uint64_t inside = take_number(map);
    take_number(map);
    uint64_t count = take_number(map);
    if (count > length) {
      first = inside;
      length = count;
    }
  }
  if (length < 4) return std::nullopt;
  if (first <= kUsual && first + length > kUsual + 2) return static_cast<unsigned>(kUsual);
  return static_cast<unsigned>(first + length / 2);
}

}  // namespace sandbox
