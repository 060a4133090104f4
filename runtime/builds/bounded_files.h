#pragma once
// BoundedFiles: a directory of files whose names are digests, bounded in total; the file that was
// used least recently leaves first. A file has its name when it is complete, never before. Stores
// of blobs and builds lie above it. Any number of processes may use one directory. Thread-safe.

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace runtime {

struct KeptFile {
  std::string name;  // 64 lower-case hexadecimal digits
  uint64_t bytes = 0;
  int64_t used_ns = 0;  // when it was put or used last, by the system's clock
};

class BoundedFiles {
 public:
  // With kMany, a file's owner is the first half of its name. The owner who holds most then loses
  // a file, so that nobody fills the directory at the cost of those who keep little.
  enum class Owners : uint8_t { kOne, kMany };
  static constexpr size_t kOwnerDigits = 32;

  // An absolute path. Nothing is made before the first put().
  BoundedFiles(std::string root, sys::Bytes capacity, Owners owners = Owners::kOne)
      : root_(std::move(root)), capacity_(capacity), owners_(owners) {}

  enum class Survives : uint8_t {
    kPowerLoss,    // on the disk when put() returns
    kProcessOnly,  // for readers who check what they read
  };
  // Makes room if it must. A name that is taken keeps what it has.
  sys::Result<void> put(const std::string& name, std::string_view bytes, Survives survives) const;
  // It was used just now. False: it is not there.
  bool touch(const std::string& name) const;
  sys::Result<std::vector<KeptFile>> list() const;  // the most recently used first
  sys::Result<void> remove(const std::string& name) const;

  // Makes the directory now, for who may not do so later.
  sys::Result<void> make_folder() const;
  const std::string& root() const { return root_; }
  sys::Bytes capacity() const { return capacity_; }
  std::string path_of(const std::string& name) const { return root_ + "/" + name; }

 private:
  sys::Result<void> make_room(const std::string& name, uint64_t bytes) const;
  std::string owner_of(const std::string& name) const;

  std::string root_;
  sys::Bytes capacity_;
  Owners owners_;
};

}  // namespace runtime
