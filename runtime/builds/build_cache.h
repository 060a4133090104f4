#pragma once
// BuildCache keeps what compilers made on this host's disk, so that a program that was compiled
// once is compiled by no later process either. It lies below the ArtefactStore, which forgets with
// its engine. It is bounded; the entry that was used least recently leaves first.
//
// An entry that is read will be executed, so it counts only if its file belongs to us, nobody else
// can write to it or to the directory, and it says its own key and digest. Anything else is
// removed and built again. Shards read; one thread of its own writes, so that no loop waits for a
// disk. Any number of processes may use one directory. Thread-safe.

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/builds/bounded_files.h"
#include "runtime/job/job.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace runtime {

struct StoredBuild {
  std::vector<InputFile> files;  // all that the compiler made and its runtime keeps
  int64_t built_us = 0;          // how long it took
  bool operator==(const StoredBuild&) const = default;
};

// One entry: "zygo build 1\n", the SHA-256 of the rest and a newline; then the key, and numbers of
// eight bytes, the lowest first: built_us, the number of files, and of each 1 or 0 (executable),
// its path and its content, each after its length.
std::string encode_build(const std::string& key, const StoredBuild& build);
// The error is a clause about the entry.
sys::Result<StoredBuild> decode_build(std::string_view entry, const std::string& key);

class BuildCache {
 public:
  static constexpr sys::Bytes kCapacity = sys::mebibytes(1024);
  static constexpr sys::Bytes kLargest = sys::mebibytes(64);  // of an entry

  // An absolute path. Nothing is made before the first put().
  explicit BuildCache(std::string root, sys::Bytes capacity = kCapacity)
      : files_(std::move(root), capacity) {}
  BuildCache(const BuildCache&) = delete;
  ~BuildCache();  // waits until everything is written

  // Why nothing would be kept in this directory. One that is not there yet is fine.
  static sys::Result<void> check(const std::string& root);

  // Keys are 64 hexadecimal digits.
  std::optional<StoredBuild> get(const std::string& key) const;
  // At once; it is written soon. What cannot be written is compiled again another time.
  void put(const std::string& key, StoredBuild build);

 private:
  sys::Result<StoredBuild> read(const std::string& key) const;
  void write_all();

  BoundedFiles files_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<std::string, StoredBuild>> waiting_;
  bool ending_ = false;
  std::thread writer_;
};

}  // namespace runtime
