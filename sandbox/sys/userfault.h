#pragma once
// Write protection of pages that lets each write through and remembers it (userfaultfd(2),
// Documentation/admin-guide/mm/userfaultfd.rst, WP_ASYNC, Linux 6.7; pagemap.rst tells how to read
// it). Allocates nothing; errors are in errno.

#include <cstdint>

namespace sys {

// O_CLOEXEC, O_NONBLOCK and UFFD_USER_MODE_ONLY, of the only call that open_userfault() makes.
constexpr uint64_t kUserfaultFlags = 02000000 | 04000 | 1;

// A descriptor for the pages of this process, which another may use; -1: the kernel lacks it.
int open_userfault();
// Makes one that tells of writes. False: the kernel cannot.
bool begin_write_tracking(int userfault);
// Both.
int open_write_tracking();
// Areas of [begin, end) take part, which changes nothing about those that do already. False: they
// cannot. Who moves an area, or puts another in its place, has one that takes no part.
bool track_writes(int tracking, uint64_t begin, uint64_t end);
// From here on a write to these pages is noticed, also the first to one that is not there yet.
bool protect_pages(int tracking, uint64_t begin, uint64_t end);

}  // namespace sys
