#pragma once
// Types for quantities with a unit. Sizes are binary: 1 K is 1024 bytes.

#include <chrono>
#include <compare>
#include <cstdint>

namespace sys {

struct Bytes {
  uint64_t count = 0;
  constexpr auto operator<=>(const Bytes&) const = default;
};
constexpr Bytes kibibytes(uint64_t n) { return {n << 10}; }
constexpr Bytes mebibytes(uint64_t n) { return {n << 20}; }

using Milliseconds = std::chrono::milliseconds;
using Microseconds = std::chrono::microseconds;
using Nanoseconds = std::chrono::nanoseconds;

// CLOCK_MONOTONIC now: the clock of every deadline and lap; the same in every process of the host.
Nanoseconds monotonic_now();

}  // namespace sys
