// The paranoid comparison of a holder's address space with its first state, for tests.

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "shim/borrow/holder.h"

namespace shim::borrow {

// Of smaps(5), what a job can change of areas: the line of each, its flags, and what of it the
// kernel may take away (MADV_FREE).
size_t Holder::read_areas(char* into) const {
  size_t size = 0;
  ssize_t n;
  while ((n = ::pread(kFdHolderAreas, into + size, kAreasText - size, static_cast<off_t>(size))) >
         0)
    size += static_cast<size_t>(n);
  size_t kept = 0;
  for (size_t at = 0; at < size;) {
    const char* newline = static_cast<const char*>(std::memchr(into + at, '\n', size - at));
    const size_t end = newline ? static_cast<size_t>(newline - into) + 1 : size;
    const bool is_head = into[at] >= 'a' || (into[at] >= '0' && into[at] <= '9');
    const char* line = into + at;
    if (is_head || std::strncmp(line, "VmFlags", 7) == 0 ||
        std::strncmp(line, "LazyFree", 8) == 0) {
      std::memmove(into + kept, into + at, end - at);
      kept += end - at;
    }
    at = end;
  }
  return kept;
}

bool Holder::note_areas() {
  void* text = ::mmap(nullptr, 2 * kAreasText, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (text == MAP_FAILED) return false;
  first_areas_ = static_cast<char*>(text);
  first_areas_size_ = read_areas(first_areas_);
  return first_areas_size_ > 0 && first_areas_size_ < kAreasText;
}

bool Holder::holds_first_content(uintptr_t page) const {
  char now[kPageBytes];
  if (::pread(kFdHolderMemory, now, kPageBytes, static_cast<off_t>(page)) != kPageBytes)
    return false;
  const char* first = reinterpret_cast<const char*>(page);
  if (const Kept* kept = kept_.find(page)) first = kept->first;
  return std::memcmp(now, first, kPageBytes) == 0;
}

// A page that is no file's and that this process has changed itself is none that a holder has: it
// would have been kept.
int Holder::verify() {
  const size_t size = read_areas(first_areas_ + kAreasText);
  if (size != first_areas_size_ || std::memcmp(first_areas_, first_areas_ + kAreasText, size) != 0)
    return EUCLEAN;
  for (const Kept& kept : kept_) {
    if (!holds_first_content(kept.page)) return EILSEQ;
  }
  for (size_t i = 0; i < areas_; ++i) {
    const long found = find_own(kFdHolderPagemap, Pages::kPresent, area_[i].begin, area_[i].end,
                                regions_, kMostRegions);
    if (found < 0) return E2BIG;
    for (long r = 0; r < found; ++r) {
      for (uintptr_t page = regions_[r].begin; page < regions_[r].end; page += kPageBytes) {
        if (!holds_first_content(page)) return EILSEQ;
      }
    }
  }
  return 0;
}

}  // namespace shim::borrow
