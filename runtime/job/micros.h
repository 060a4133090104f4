#pragma once
// Times as results have them.

#include <cstdint>

#include "sandbox/sys/units.h"

namespace runtime {

inline int64_t micros(sys::Nanoseconds time) {
  return std::chrono::duration_cast<sys::Microseconds>(time).count();
}

}  // namespace runtime
