#pragma once
// The coding line of a Python source (PEP 263), as CPython finds it. Pure.

#include <string_view>

namespace runtime {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// The encoding that a comment of the first two lines names; empty: none does, or it is UTF-8.
std::string_view python_coding(std::string_view source);

}  // namespace runtime
