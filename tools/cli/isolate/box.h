#pragma once
// A box: a directory of the host that outlives the runs in it, from --init to --cleanup. One
// process works with a box at a time, by a lock that goes with the process.

#include <cstdint>
#include <optional>
#include <string>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"
#include "tools/cli/isolate/options.h"

namespace cli {

class Box {
 public:
  // Below $ZYGO_HOME, or where zygo keeps its things, in `isolate`.
  static sys::Result<std::string> default_root();
  // Locks box `number`. An error with EBUSY: another process has it, and `wait` is false.
  static sys::Result<Box> lock(const std::string& root, uint32_t number, bool wait);

  const std::string& path() const { return path_; }
  std::string directory() const { return path_ + "/box"; }  // what programs see as /box

  sys::Result<void> make(const std::optional<BoxQuota>& quota) const;  // empty, whatever was there
  sys::Result<void> remove() const;
  bool exists() const;
  std::optional<BoxQuota> quota() const;  // that it was made with

 private:
  Box(std::string path, sys::OwnedFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  sys::OwnedFd lock_;
};

}  // namespace cli
