#include "shim/borrow/address_space.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace shim::borrow {
namespace {

// <linux/fs.h> since 6.7; the headers at hand may be older.
struct ScanRequest {
  uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages, category_inverted,
      category_mask, category_anyof_mask, return_mask;
};
constexpr unsigned long kScan = _IOWR('f', 16, ScanRequest);
constexpr uint64_t kTracked = 1 << 0, kWritten = 1 << 1, kOfFile = 1 << 2, kPresent = 1 << 3,
                   kSwapped = 1 << 4, kZero = 1 << 5;

long scan(int pagemap, ScanRequest& request, Region* into, size_t most) {
  request.size = sizeof request;
  request.vec = reinterpret_cast<uint64_t>(into);
  request.vec_len = most;
  return ::ioctl(pagemap, kScan, &request);
}

}  // namespace

uintptr_t end_of_addresses() {
  static uintptr_t end = 0;
  if (end != 0) return end;
  constexpr uintptr_t kPageOfTables = 4096;
  void* above = reinterpret_cast<void*>(uintptr_t{1} << 48);
  void* at =
      ::mmap(above, kPageOfTables, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  end = (uintptr_t{1} << (at == above ? 56 : 47)) - kPageOfTables;
  if (at != MAP_FAILED) ::munmap(at, kPageOfTables);
  return end;
}

long find_written(int pagemap, uintptr_t& from, Region* into, size_t most) {
  ScanRequest request{};
  request.start = from;
  request.end = end_of_addresses();
  request.category_mask = kTracked | kWritten;
  request.return_mask = kWritten;
  const long found = scan(pagemap, request, into, most);
  from = request.walk_end;
  return found;
}

long find_own(int pagemap, Pages which, uintptr_t begin, uintptr_t end, Region* into, size_t most) {
  ScanRequest request{};
  request.start = begin;
  request.end = end;
  request.category_inverted = kOfFile | kZero;
  request.category_mask = kOfFile | kZero;
  request.category_anyof_mask = which == Pages::kSwappedToo ? kPresent | kSwapped : kPresent;
  request.return_mask = kPresent;
  const long found = scan(pagemap, request, into, most);
  return found >= 0 && request.walk_end == end ? found : -1;
}

}  // namespace shim::borrow
