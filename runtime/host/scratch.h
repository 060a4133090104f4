#pragma once
// Scratch directories of cells where no tmpfs of their own can be mounted (levels contained and
// minimal): one directory per daemon, one below it per cell. They have no size and no inode limit
// of their own: the cell's watch measures them (cell/watch.cc), and what is found at the end of a
// job is counted while it is wiped.

#include <cstdint>
#include <optional>
#include <string>

#include "sandbox/mounts/wipe.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

namespace runtime {

// The directory of one cell; emptied and removed when dropped.
class Scratch {
 public:
  Scratch() = default;
  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&& other) noexcept;
  ~Scratch();

  explicit operator bool() const { return static_cast<bool>(fd_); }
  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }
  // Counts what it holds now, beside a living job; stops at `most_entries`. Directories that cannot
  // be read (a daemon with the job's uid meets those the job closed) are counted, not entered.
  sandbox::Contents measure(uint64_t most_entries) const;
  static sandbox::Contents measure(int directory, uint64_t most_entries);

 private:
  friend class ScratchRoot;
  std::string path_;
  sys::OwnedFd fd_;
};

// The ids that use a cell's scratch: pid 1 of the cell owns it, the job's group may write in it.
struct ScratchOwner {
  uint32_t init_id = 0;
  uint32_t job_id = 0;  // the same as init_id where both have one id
};

class ScratchRoot {
 public:
  // Makes it below $TMPDIR, or /tmp. Removes what daemons that are gone have left there.
  static sys::Result<ScratchRoot> create();
  ScratchRoot(ScratchRoot&&) noexcept = default;
  ScratchRoot& operator=(ScratchRoot&&) = delete;
  ~ScratchRoot();

  // `owner` is empty where cells have the daemon's own id.
  sys::Result<Scratch> make(uint64_t cell, std::optional<ScratchOwner> owner) const;

 private:
  ScratchRoot() = default;
  std::string path_;
  sys::OwnedFd fd_;  // holds the lock that says: in use
};

}  // namespace runtime
