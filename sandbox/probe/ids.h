#pragma once
// Reading /proc/<pid>/uid_map and gid_map. Pure.

#include <cstdint>
#include <optional>
#include <string_view>

namespace sandbox {

// A range of ids that exist in this user namespace.
struct MappedIds {
  uint64_t first = 0, count = 0;
  bool contains(uint64_t begin, uint64_t size) const {
    return begin >= first && begin + size <= first + count;
  }
};
MappedIds largest_range(std::string_view map);

// The first of two neighbouring ids that are mapped, are not 0, and lie away from those that system
// accounts use. Nothing when the map is too small: an ordinary user's namespace has one id.
std::optional<unsigned> spare_id(std::string_view map);

}  // namespace sandbox
