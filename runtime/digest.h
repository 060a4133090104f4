#pragma once
// SHA-256, as 64 hexadecimal digits. Pure.

#include <string>
#include <string_view>

namespace runtime {

std::string sha256_hex(std::string_view bytes);

}  // namespace runtime
