#pragma once
// BorrowedPart: what a job has added to the memory that it borrows, where no control group counts
// it. The kernel counts an address space as a whole, its holder's pages included. Pages of files,
// and of the image of the heap, which is one in memory, stay for the next job when a job is the
// first to look at them: they are none of its memory. A rule without a kernel.

#include <algorithm>
#include <cstdint>

#include "runtime/host/residence.h"
#include "sandbox/sys/units.h"

namespace runtime {

class BorrowedPart {
 public:
  BorrowedPart() = default;
  // `images`: the areas of files in memory that the address space has without a job. Of a job's own
  // shared memory as much goes uncounted as is not there of them.
  explicit BorrowedPart(sys::Bytes images) : images_(images) {}

  // A job is about to begin; of what is resident, `warm` are pages that earlier jobs have written
  // to and that the next will find.
  void begin(const Residence& before, sys::Bytes warm) {
    before_ = before;
    warm_ = warm;
  }

  // Of the address space now.
  sys::Bytes of(const Residence& now) const {
    return {beyond(now.anonymous, before_.anonymous) +
            beyond(now.shared, std::max(before_.shared.count, images_.count)) +
            beyond(now.tables, before_.tables)};
  }

  // Of its peak, when it is rolled back. A warm page that the job has changed is its memory, too:
  // all but `unused_warm`. A page of the image that it has changed is not there any more.
  sys::Bytes of_peak(sys::Bytes peak, const Residence& after, sys::Bytes unused_warm) const {
    const uint64_t first_seen =
        beyond(after.files, before_.files) + beyond(after.shared, before_.shared);
    const uint64_t changed = beyond(before_.shared, after.shared) + beyond(warm_, unused_warm);
    return {beyond(peak, before_.all.count + first_seen) + changed};
  }

 private:
  static uint64_t beyond(sys::Bytes amount, uint64_t part) {
    return amount.count - std::min(amount.count, part);
  }
  static uint64_t beyond(sys::Bytes amount, sys::Bytes part) { return beyond(amount, part.count); }

  sys::Bytes images_;
  Residence before_;
  sys::Bytes warm_;
};

}  // namespace runtime
