#pragma once
// Reading /proc/<pid>/uid_map and gid_map. Pure.

#include <optional>
#include <string_view>

namespace sandbox {

// The first of two neighbouring ids that are mapped, are not 0, and lie away from those that system
// accounts use. Nothing when the map is too small: an ordinary user's namespace has one id.
std::optional<unsigned> spare_id(std::string_view map);

}  // namespace sandbox
