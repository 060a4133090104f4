#include "runtime/sessions/pagemap.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "shim/state/format.h"

namespace runtime {

using shim::state::kPageBytes;

namespace {

// <linux/fs.h> since 6.7; the headers at hand may be older.
struct ScanRequest {
  uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages, category_inverted,
      category_mask, category_anyof_mask, return_mask;
};
struct Region {
  uint64_t begin, end, categories;
};
constexpr unsigned long kScan = _IOWR('f', 16, ScanRequest);
constexpr uint64_t kTracked = 1 << 0, kWritten = 1 << 1, kOfFile = 1 << 2, kPresent = 1 << 3,
                   kSwapped = 1 << 4, kZero = 1 << 5;

constexpr bool is_own(uint64_t entry) {  // present or swapped, and neither a file's nor shared
  return (entry >> 62) != 0 && !((entry >> 61) & 1);
}

}  // namespace

sys::Result<void> PageScan::find_own(const std::vector<AddressArea>& areas, const Found& found) {
  // What the kernel has above all that a process can map, as [vsyscall], is none of its own.
  uint64_t end = 0;
  for (const AddressArea& area : areas) end = is_no_state(area) ? end : area.end;
  if (TRY(scan(areas.front().begin, end, found))) return {};
  for (const AddressArea& area : areas) {
    if (!is_no_state(area)) TRY(read(area.begin, area.end, found));
  }
  return {};
}

// False: the kernel has no such call (PAGEMAP_SCAN, Linux 6.7), and nothing was found.
sys::Result<bool> PageScan::scan(uint64_t begin, uint64_t end, const Found& found) {
  std::array<Region, 512> regions;
  ScanRequest request{};
  request.size = sizeof request;
  request.vec = reinterpret_cast<uint64_t>(regions.data());
  request.vec_len = regions.size();
  request.category_inverted = request.category_mask = kOfFile | kZero;
  request.category_anyof_mask = kPresent | kSwapped;
  request.return_mask = kTracked | kWritten | kPresent;
  request.end = end;
  for (request.start = begin; request.start < end; request.start = request.walk_end) {
    const int count = ::ioctl(pagemap_, kScan, &request);
    if (count < 0 && request.start == begin) return false;
    if (count < 0) return sys::Error::from_errno("scan a pagemap");
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      // Where a page of a file's area has been given back, the mark of its protection is left, as a
      // swapped page would be.
      const bool is_unwritten = regions[i].categories == (kTracked | kPresent);
      if (!found(regions[i].begin, regions[i].end, is_unwritten)) return true;
    }
    if (request.walk_end <= request.start)
      return sys::Error::because("a scan of a pagemap that ended early");
  }
  return true;
}

sys::Result<void> PageScan::read(uint64_t begin, uint64_t end, const Found& found) {
  constexpr uint64_t kWindow = 8192;
  std::optional<uint64_t> first;
  for (uint64_t at = begin; at < end;) {
    const uint64_t count = std::min(kWindow, (end - at) / kPageBytes);
    entries_.resize(count);
    const ssize_t wanted = static_cast<ssize_t>(count * sizeof(uint64_t));
    if (::pread(pagemap_, entries_.data(), static_cast<size_t>(wanted),
                static_cast<off_t>(at / kPageBytes * sizeof(uint64_t))) != wanted)
      return sys::Error::from_errno("read a pagemap");
    for (uint64_t i = 0; i < count; ++i, at += kPageBytes) {
      if (is_own(entries_[i]) == first.has_value()) continue;
      if (first) {
        if (!found(*first, at, false)) return {};
        first.reset();
      } else {
        first = at;
      }
    }
  }
  if (first) (void)found(*first, end, false);
  return {};
}

}  // namespace runtime
