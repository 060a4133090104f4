#include "shim/heap/page_tally.h"

#include <sys/mman.h>

namespace shim {

PageTally* PageTally::create() {
  void* at =
      ::mmap(nullptr, sizeof(PageTally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<PageTally*>(at);
}

void PageTally::clear() {
  trials_ = 0;
  count_ = 0;
}

void PageTally::destroy() { ::munmap(this, sizeof *this); }

bool PageTally::add_own() {
  MemoryMap* map = MemoryMap::create();
  if (!map || !map->read()) return false;
  PageMap pages;
  PageUse* to = uses_[1 - current_];
  const PageUse* known = begin();
  size_t size = 0;
  for (const Area& area : *map) {
    if (area.is_of_image() && (area.prot & PROT_WRITE) && !add(area, pages, to, size, known))
      return false;
  }
  for (; known != end() && size < kMostPages; ++known) to[size++] = *known;
  if (known != end()) return false;
  current_ = 1 - current_;
  count_ = size;
  ++trials_;
  return true;
}

// Merges the pages of one area, and what was known of lower addresses, into `to`.
bool PageTally::add(const Area& area, PageMap& pages, PageUse* to, size_t& size,
                    const PageUse*& known) {
  for (uintptr_t at = area.begin; at < area.end;) {
    const size_t left = (area.end - at) / kPage;
    const size_t count = left < PageMap::kWindow ? left : PageMap::kWindow;
    const uint64_t* entries = pages.read(at, count);
    if (!entries) return false;
    for (size_t i = 0; i < count; ++i) {
      if (!PageMap::is_own(entries[i])) continue;
      const uintptr_t page = at + i * kPage;
      for (; known != end() && known->page < page; ++known) {
        if (size == kMostPages) return false;
        to[size++] = *known;
      }
      if (size == kMostPages) return false;
      PageUse& use = to[size++];
      use = known != end() && known->page == page ? *known++ : PageUse{page};
      ++use.written;
    }
    at += count * kPage;
  }
  return true;
}

}  // namespace shim
