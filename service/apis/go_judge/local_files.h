#pragma once
// LocalFiles: the files below one directory of this host that requests may name by their paths,
// because the operator says so. No path leads out of it, neither by ".." nor by a link.
// Thread-safe.

#include <string>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

namespace service {

class LocalFiles {
 public:
  // An absolute path of a directory.
  static sys::Result<LocalFiles> open(const std::string& root);

  // The contents of a regular file of at most so many bytes, by its absolute path.
  sys::Result<std::string> read(const std::string& path, uint64_t most) const;

 private:
  LocalFiles(std::string root, sys::OwnedFd directory)
      : root_(std::move(root)), directory_(std::move(directory)) {}

  std::string root_;  // ends with a slash
  sys::OwnedFd directory_;
};

}  // namespace service
