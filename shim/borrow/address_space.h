#pragma once
// The kernel's view of another process's address space: written pages, which it has had protected
// (sandbox/sys/userfault.h; Documentation/admin-guide/mm/pagemap.rst).

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
