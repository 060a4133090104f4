#pragma once
// Huge pages for memory that is filled once with tens of megabytes: most of the cost of that
// is its pages, one by one. A kernel with transparent huge pages by advice gives 2 MiB at a
// time.

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace sys {

// Makes room for `bytes` in all. Long strings get huge pages; it is no error where there are none.
inline void reserve_huge(std::string& text, size_t bytes) {
  constexpr uintptr_t kHuge = uintptr_t{2} << 20;
  if (bytes <= text.capacity()) return;
  text.reserve(std::max(bytes, 2 * text.size()));  // what grows piece by piece is moved seldom
  const auto begin = reinterpret_cast<uintptr_t>(text.data());
  const uintptr_t first = (begin + kHuge - 1) & ~(kHuge - 1);
  const uintptr_t last = (begin + text.capacity()) & ~(kHuge - 1);
  if (last > first) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

}  // namespace sys
