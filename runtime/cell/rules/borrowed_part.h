#pragma once
// BorrowedPart: what a job has added to the memory that it borrows, where no control group counts
// it. The kernel counts an address space as a whole, its holder's pages included. Pages of files
// that a job is the first to look at stay for the next and are none of its memory. A rule without a
// kernel.

#include <algorithm>
#include <cstdint>

#include "runtime/host/residence.h"
#include "sandbox/sys/units.h"

namespace runtime {

class BorrowedPart {
 public:
  // A job is about to begin; of what is resident, `warm` are pages that earlier jobs have written
  // to and that the next will find.
  void begin(const Residence& before, sys::Bytes warm) {
    before_ = before;
    warm_ = warm;
  }

  // Of the address space now.
  sys::Bytes of(const Residence& now) const {
    const sys::Bytes own = beyond(now.all, now.files),
                     own_before = beyond(before_.all, before_.files);
    return {beyond(own, own_before).count + beyond(now.tables, before_.tables).count};
  }

  // Of its peak, when it is rolled back. A warm page that the job has changed is its memory, too:
  // all but `unused_warm`.
  sys::Bytes of_peak(sys::Bytes peak, const Residence& after, sys::Bytes unused_warm) const {
    const sys::Bytes first_seen = beyond(after.files, before_.files);
    const sys::Bytes found{before_.all.count + first_seen.count};
    return {beyond(peak, found).count + beyond(warm_, unused_warm).count};
  }

 private:
  static sys::Bytes beyond(sys::Bytes amount, sys::Bytes part) {
    return {amount.count - std::min(amount.count, part.count)};
  }

  Residence before_;
  sys::Bytes warm_;
};

}  // namespace runtime
