#pragma once
// The name that was probably meant by one that is not known.

#include <span>
#include <string_view>

namespace runtime {

// The one of `names` that `name` begins, or that begins it, or that is the fewest typing errors
// away; empty: none is near.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> names);

}  // namespace runtime
