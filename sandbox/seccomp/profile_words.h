#pragma once
// The symbolic names that profiles use, with their values on this machine's headers. Pure data.

#include <cstdint>
#include <optional>
#include <string_view>

namespace sandbox {

// "PR_SET_NAME", "AF_UNIX", "MAP_HUGETLB", ...: what arguments of 32 bits are compared with.
std::optional<uint32_t> word_value(std::string_view word);

// "ENOSYS" is 38; every errno has a name.
std::optional<int> errno_named(std::string_view name);

}  // namespace sandbox
