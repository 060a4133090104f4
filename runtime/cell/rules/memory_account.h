#pragma once
// MemoryAccount: which part of a cell's memory is its job's. The kernel counts for the cell as a
// whole: its own processes, the pages that its holder keeps warm, and what the kernel itself has
// not freed yet of earlier jobs. A process's stack and tables are freed some milliseconds after its
// end (call_rcu: Documentation/RCU/whatisRCU.rst), so a cell that runs thousands of jobs a second
// has a megabyte of those. A rule without a kernel.

#include <algorithm>
#include <cstdint>

#include "sandbox/sys/units.h"

namespace runtime {

class MemoryAccount {
 public:
  // The limit follows what earlier jobs have left by steps, because setting it takes a system call.
  static constexpr uint64_t kStep = 256 << 10;
  // What is left beyond that are names and files that the kernel gives back when a job needs the
  // room, so that it is no reason for a higher limit.
  static constexpr uint64_t kMostAllowance = 2 << 20;
  // Page tables, stacks and names of an ordinary step's process: 50 to 350 KiB were measured.
  static constexpr uint64_t kOfProcess = 256 << 10, kMostUnheld = 1 << 20;

  // The cell has had no job yet and uses so much.
  void open(sys::Bytes used) { *this = MemoryAccount(used.count); }

  // The cell's limit, for a job that may use `of_job`.
  sys::Bytes limit(sys::Bytes of_job) const {
    return {base_ + warm_ + allowance_ + unheld_ + of_job.count};
  }
  // Of the cell's peak, what may be the memory of a job that has not ended, or of a step whose
  // process stays: it may be less.
  sys::Bytes at_most(sys::Bytes peak) const { return beyond(peak.count, base_ + warm_ + unheld_); }

  // A step is over, the cell uses so much, and `held` of it is what its node has. Whether the
  // process may stay: the next step would have the rest, too, but for kOfProcess, which each
  // process has; that is small, and is not the step's.
  bool may_stay(sys::Bytes used, sys::Bytes held) {
    unheld_ = beyond(used.count, base_ + warm_ + held.count + kOfProcess).count;
    return unheld_ <= kMostUnheld;
  }
  // A job begins in a process of its own.
  void begin() { unheld_ = 0; }

  struct Ended {
    sys::Bytes peak;         // of the cell while the job ran
    sys::Bytes unused_warm;  // of the pages that were warm, those that it has not changed
    sys::Bytes used;         // by the cell now
    sys::Bytes warm;         // pages that the next job will find
  };
  // A job has ended: the peak of its own memory. What was left of earlier ones and is there still
  // was there all the time.
  sys::Bytes close(const Ended& job) {
    const uint64_t left_before = left_;
    unheld_ = 0;
    warm_ = job.warm.count;
    if (job.used.count > warm_) base_ = std::min(base_, job.used.count - warm_);
    left_ = beyond(job.used.count, base_ + warm_).count;
    const uint64_t left = std::min(left_, kMostAllowance);
    if (left > allowance_ + kStep || left + kStep < allowance_) allowance_ = left / kStep * kStep;
    return beyond(job.peak.count, base_ + job.unused_warm.count + std::min(left_before, left_));
  }
  // What the cell uses beside its own, now that no job is in it.
  sys::Bytes left() const { return {left_}; }

  MemoryAccount() = default;

 private:
  explicit MemoryAccount(uint64_t base) : base_(base) {}
  static sys::Bytes beyond(uint64_t amount, uint64_t part) {
    return {amount > part ? amount - part : 0};
  }

  uint64_t base_ = 0;  // of the cell's own processes: the least that was seen
  uint64_t warm_ = 0, left_ = 0, allowance_ = 0;
  uint64_t unheld_ = 0;  // of a process that stays: beside what its node has
};

}  // namespace runtime
