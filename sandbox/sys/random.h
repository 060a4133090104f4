#pragma once
// Chance from the kernel. std::random_device would bring arc4random into a binary for older
// systems.

#include <cstdint>

namespace sys {

uint64_t random_number();

}  // namespace sys
