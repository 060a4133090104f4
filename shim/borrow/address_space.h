#pragma once
// The kernel's view of another process's address space, by descriptors that it has opened itself:
// written pages (userfaultfd(2), Documentation/admin-guide/mm/userfaultfd.rst and pagemap.rst).

#include <cstddef>
#include <cstdint>

namespace shim::borrow {

// The end of what a process can map: 2^47, or 2^56 where the processor has five levels of page
// tables and a program asks for an address up there
// (Documentation/arch/x86/x86_64/5level-paging.rst), less a page.
uintptr_t end_of_addresses();

struct Region {
  uint64_t begin, end, categories;
};

// A descriptor for write protection of this process's pages, or -1: the kernel lacks it.
int open_write_tracking();
// Pages of [begin, end) take part in tracking. False: they cannot.
bool track(int tracking, uintptr_t begin, uintptr_t end);
// From here on a write to them is noticed, also the first to a page that is not there yet.
bool protect(int tracking, uintptr_t begin, uintptr_t end);

// Runs of tracked pages that have been written to since they were protected, from `from` on, which
// is moved to where the search ended; -1: errno.
long find_written(int pagemap, uintptr_t& from, Region* into, size_t most);
// Runs of pages that are there, no file's and not the kernel's page of zeros: written to since the
// process began; -1: errno, or
// there are more than `most`. Where an area is protected, kSwappedToo finds the marks of protection
// as well, which lie where a swapped page would.
enum class Pages : uint8_t { kPresent, kSwappedToo };
long find_own(int pagemap, Pages which, uintptr_t begin, uintptr_t end, Region* into, size_t most);

}  // namespace shim::borrow
