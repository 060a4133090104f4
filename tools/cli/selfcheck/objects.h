#pragma once
// Objects: System V objects of the host for attempts to go for, and the process that keeps them.
// That process is forked before the engine starts, because zygo then denies itself these calls, and
// it removes everything when we are gone, however we ended.

#include <sys/types.h>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

namespace cli {

class Objects {
 public:
  Objects() = default;
  static sys::Result<Objects> make(int key);  // under `key`; attempts make theirs under key + 1
  Objects(Objects&&) noexcept = default;
  Objects& operator=(Objects&& other) noexcept;
  ~Objects();

  pid_t keeper() const { return keeper_; }
  int segment() const { return segment_; }  // -1: the kernel has no such objects
  // True if an attempt made some in the host's namespace; they are removed.
  bool take_strangers() const;

 private:
  void end();
  sys::OwnedFd channel_;
  pid_t keeper_ = 0;
  int segment_ = -1;
};

}  // namespace cli
