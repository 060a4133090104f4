#pragma once
// Which pages of another process are its own: anonymous, so written to by it or by one that it was
// forked from; those of the template's image are a file's
// (Documentation/admin-guide/mm/pagemap.rst).

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/sessions/address_areas.h"
#include "sandbox/sys/result.h"

namespace runtime {

class PageScan {
 public:
  explicit PageScan(int pagemap) : pagemap_(pagemap) {}
  // `is_unwritten`: they are protected (write_tracking.h), and have been neither written to nor
  // given back since. False: no more of them are wanted.
  using Found = std::function<bool(uint64_t begin, uint64_t end, bool is_unwritten)>;
  // Calls `found` for runs of such pages of a process with these areas, in order.
  sys::Result<void> find_own(const std::vector<AddressArea>& areas, const Found& found);

 private:
  sys::Result<bool> scan(uint64_t begin, uint64_t end, const Found& found);
  sys::Result<void> read(uint64_t begin, uint64_t end, const Found& found);

  int pagemap_;
  std::vector<uint64_t> entries_;
};

}  // namespace runtime
