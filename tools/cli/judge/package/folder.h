#pragma once
// Folder: files below one directory, read without ever leaving it. Its contents are untrusted:
// links that lead out (absolute ones too), devices and pipes are refused, listings and sizes are
// bounded. Owns the descriptor of the directory. Every error names the path below the directory.

#include <optional>
#include <string>
#include <vector>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace cli {

class Folder {
 public:
  enum class Kind { kNothing, kFile, kFolder };
  struct Entry {
    std::string name;
    Kind kind = Kind::kNothing;
  };

  static sys::Result<Folder> open(const std::string& directory);

  // The kind of `path` ("" is the directory itself); kNothing where there is nothing.
  sys::Result<Kind> kind_of(const std::string& path) const;
  // Sorted by name, byte for byte; names that begin with a dot are left out.
  sys::Result<std::vector<Entry>> list(const std::string& path) const;
  // The paths of all files below `path`, sorted; at most `most` of them, 16 levels deep.
  sys::Result<std::vector<std::string>> files_below(const std::string& path, size_t most) const;
  sys::Result<std::string> read(const std::string& path, sys::Bytes most) const;
  // The same of a file that may be absent: then nothing.
  sys::Result<std::optional<std::string>> read_if_any(const std::string& path, size_t most) const;
  sys::Result<sys::Bytes> size_of(const std::string& path) const;
  sys::Result<bool> is_executable(const std::string& path) const;  // by its mode

 private:
  explicit Folder(sys::OwnedFd directory) : directory_(std::move(directory)) {}
  sys::Result<void> collect(const std::string& path, unsigned depth, size_t most,
                            std::vector<std::string>& into) const;
  sys::Result<sys::OwnedFd> open_at(const std::string& path, int flags) const;

  sys::OwnedFd directory_;
};

// "a/b", or "b" where there is no folder before it.
std::string joined(const std::string& folder, const std::string& name);

}  // namespace cli
