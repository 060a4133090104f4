#pragma once
// Times as results have them.

#include <cstdint>

#include "sandbox/sys/units.h"

namespace runtime {

inline int64_t micros(sys::Nanoseconds time) {
  return std::chrono::duration_cast<sys::Microseconds>(time).count();
}

// Rounds microseconds to milliseconds; a negative time counts as 0.
inline int64_t rounded_milliseconds(int64_t us) {
  return us <= 0 ? 0 : us / 1000 + (us % 1000 >= 500);
}

}  // namespace runtime
