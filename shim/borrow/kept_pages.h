#pragma once
// The pages of a holder that are put back after each job, and those that may become such. Nothing
// is allocated.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "shim/borrow/vault.h"

namespace shim::borrow {

struct Kept {
  uintptr_t page;
  const char* first;  // its content without a job
  bool is_warm;       // or it was there from the start
};

// In the order of addresses, kMostKept at most.
class KeptPages {
 public:
  size_t size() const { return size_; }
  const Kept* begin() const { return pages_; }
  const Kept* end() const { return pages_ + size_; }

  // Null: it is none of them.
  const Kept* find(uintptr_t page) const {
    const Kept* at = std::lower_bound(begin(), end(), page, lies_below);
    return at != end() && at->page == page ? at : nullptr;
  }

  // One that is none of them yet, where there is room.
  void add(const Kept& kept) {
    Kept* last = pages_ + size_++;
    Kept* at = std::lower_bound(pages_, last, kept.page, lies_below);
    std::move_backward(at, last, last + 1);
    *at = kept;
  }

 private:
  static bool lies_below(const Kept& each, uintptr_t page) { return each.page < page; }

  size_t size_ = 0;
  Kept pages_[kMostKept];
};

// Pages that were dropped not long ago. A set holds its last ones, newest first.
class RecentPages {
 public:
  // Whether it was noted before, and has not fallen out since.
  bool note(uintptr_t page) {
    constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;  // multiplicative hashing (Knuth, vol. 3, 6.4)
    Set& set = sets_[(page / kPageBytes * kGolden) >> (64 - kBits)];
    const auto name = static_cast<uint32_t>(page / kPageBytes);
    if (std::find(std::begin(set.pages), std::end(set.pages), name) != std::end(set.pages))
      return true;
    std::copy_backward(std::begin(set.pages), std::end(set.pages) - 1, std::end(set.pages));
    set.pages[0] = name;
    return false;
  }

 private:
  static constexpr int kBits = 11;
  struct Set {
    uint32_t pages[4] = {};
  };
  Set sets_[1 << kBits];
};

}  // namespace shim::borrow
