#include "shim/heap/hot_pages.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "shim/heap/memory_map.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14
#endif
#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif

namespace shim {

namespace {

constexpr int kSelf = -10000;  // PIDFD_SELF_THREAD_GROUP, Linux 6.15
constexpr size_t kMostRanges = 512;

struct Record {
  unsigned trials;
  size_t count;
  uintptr_t pages[16384];  // sorted; written by every trial so far
  size_t range_count;
  iovec ranges[kMostRanges];
  bool at_once;  // process_madvise on oneself works here
};
Record* record = nullptr;  // shared between the template and its trials; read-only in jobs

bool contains(const uintptr_t* pages, size_t count, uintptr_t page) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (pages[middle] < page) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < count && pages[low] == page;
}

template <typename Visit>
void for_each_written_page(const MemoryMap& map, Visit visit) {
  PageMap pages;
  for (const Area& area : map) {
    if (!area.is_private || area.is_special || area.is_anonymous || !(area.prot & PROT_WRITE))
      continue;
    for (uintptr_t at = area.begin; at < area.end;) {
      size_t count =
          area.end - at > PageMap::kWindow * kPage ? PageMap::kWindow : (area.end - at) / kPage;
      const uint64_t* entries = pages.read(at, count);
      if (!entries) return;
      for (size_t i = 0; i < count; ++i) {
        if (PageMap::is_own(entries[i])) visit(at + i * kPage);
      }
      at += count * kPage;
    }
  }
}

}  // namespace

bool start_hot_pages() {
  void* at =
      ::mmap(nullptr, sizeof(Record), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return false;
  record = static_cast<Record*>(at);
  return true;
}

void note_hot_pages() {
  MemoryMap* map = MemoryMap::create();
  if (!record || !map || !map->read()) return;
  size_t kept = 0;
  bool first = record->trials == 0;
  for_each_written_page(*map, [&](uintptr_t page) {
    if (kept == sizeof record->pages / sizeof record->pages[0]) return;
    // Pages come in order, so what is kept never overtakes what is still to be compared.
    if (first || contains(record->pages + kept, record->count - kept, page))
      record->pages[kept++] = page;
  });
  record->count = kept;
  ++record->trials;
}

unsigned freeze_hot_pages() {
  if (!record) return 0;
  size_t ranges = 0;
  for (size_t i = 0; i < record->count && ranges < kMostRanges; ++ranges) {
    size_t first = i++;
    while (i < record->count && record->pages[i] == record->pages[i - 1] + kPage) ++i;
    record->ranges[ranges] = {reinterpret_cast<void*>(record->pages[first]), (i - first) * kPage};
  }
  record->range_count = ranges;
  iovec nothing{nullptr, 0};
  record->at_once = ::syscall(SYS_process_madvise, kSelf, &nothing, 1, MADV_POPULATE_WRITE, 0) >= 0;
  ::mprotect(record, sizeof *record, PROT_READ);
  return static_cast<unsigned>(record->count);
}

void copy_hot_pages() {
  if (!record || record->range_count == 0) return;
  if (record->at_once && ::syscall(SYS_process_madvise, kSelf, record->ranges, record->range_count,
                                   MADV_POPULATE_WRITE, 0) > 0) {
    return;
  }
  for (size_t i = 0; i < record->range_count; ++i) {
    ::madvise(record->ranges[i].iov_base, record->ranges[i].iov_len, MADV_POPULATE_WRITE);
  }
}

}  // namespace shim
