#pragma once
// PipeCount: how many pipes a job has, where cells have one uid. The kernel counts the pages of
// pipes by uid, and who makes one beyond fs.pipe-user-pages-soft (1,024 pipes) gets one of two
// pages for sixteen (alloc_pipe_info in fs/pipe.c), so that a program which relies on 64 KiB hangs.
// A rule without a kernel.

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "sandbox/sys/units.h"

namespace runtime {

class PipeCount {
 public:
  // Three quarters of what the kernel gives a uid, in equal parts.
  static constexpr uint64_t most_of(unsigned jobs_at_once) {
    return std::clamp<uint64_t>(768 / std::max(jobs_at_once, 1u), 8, 256);
  }

  // So much counting costs a job nothing.
  static constexpr unsigned kFreeCounts = 3;
  static constexpr sys::Nanoseconds kFree = std::chrono::milliseconds(10);

  explicit PipeCount(uint64_t most) : most_(most) {}
  uint64_t most() const { return most_; }

  // Each new pipe adds one to an upper bound; only at the limit are those that live counted again.
  // A job that stays there asks again and again: counting takes a tenth of the time at most. What
  // counts is our thread's own CPU time: on a busy machine a count that has to wait for its core is
  // no reason to refuse a pipe to a job that has room.
  bool must_count(sys::Nanoseconds now) const {
    if (known_ < most_) return false;
    return counts_ < kFreeCounts || spent_ <= kFree + (now - first_) / 10;
  }
  void count(uint64_t living, sys::Nanoseconds now, sys::Nanoseconds cpu) {
    if (counts_++ == 0) first_ = now;
    known_ = living;
    spent_ += cpu;
  }
  // False: there is no room for one more.
  bool add() {
    if (known_ >= most_) return false;
    ++known_;
    return true;
  }

 private:
  uint64_t most_, known_ = 0, counts_ = 0;
  sys::Nanoseconds first_{}, spent_{};  // when we counted first, and our CPU time for all counts
};

}  // namespace runtime
