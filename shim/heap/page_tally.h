#pragma once
// Counts, for each page of the image, the trial jobs that write to it.

#include <cstddef>
#include <cstdint>

#include "shim/heap/memory_map.h"

namespace shim {

struct PageUse {
  uintptr_t page = 0;
  unsigned written = 0;  // by so many trials
};

// Shared between the template and its trials, so that it is no part of the image.
class PageTally {
 public:
  static PageTally* create();  // null with errno
  void destroy();
  void clear();

  // In a trial, when its program has ended: adds what this process wrote to. False: /proc
  // is not readable, or there are too many pages; then the tally is as it was.
  bool add_own();

  unsigned trials() const { return trials_; }
  const PageUse* begin() const { return uses_[current_]; }  // by rising address
  const PageUse* end() const { return uses_[current_] + count_; }

 private:
  static constexpr size_t kMostPages = 32768;
  bool add(const Area& area, PageMap& pages, PageUse* to, size_t& size, const PageUse*& known);
  unsigned trials_;
  unsigned current_;
  size_t count_;
  PageUse uses_[2][kMostPages];  // one is merged into the other
};

}  // namespace shim
