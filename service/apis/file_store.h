#pragma once
// FileStore: contents that clients of go-judge's API hand in or have kept, each under a short id of
// its own. In memory, bounded; files that were unused for some time are removed, files in use never
// are, and all of them end with the service. Time is an argument. Thread-safe.

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/builds/artefact.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace service {

struct StoredFile {
  std::string owner, name, content;
};
using StoredFilePtr = std::shared_ptr<const StoredFile>;

class FileStore {
 public:
  struct Limits {
    sys::Bytes bytes = sys::mebibytes(512);
    size_t files = 10'000;
    size_t id_characters = 8;           // of five bits each
    size_t executables = 64;            // each holds a descriptor
    sys::Milliseconds keep{3'600'000};  // since it was used last
  };
  explicit FileStore(Limits limits) : limits_(limits) {}

  // The id; an error when there is no room, or none that this owner may have: see leaves_room().
  sys::Result<std::string> add(StoredFile file, sys::Nanoseconds now);
  // Null: this owner has no such file.
  StoredFilePtr find(const std::string& owner, const std::string& id, sys::Nanoseconds now);
  // The same as an executable in sealed memory. Those that are used most recently are kept made.
  sys::Result<std::shared_ptr<const runtime::Artefact>> executable(const std::string& owner,
                                                                   const std::string& id,
                                                                   sys::Nanoseconds now);
  bool remove(const std::string& owner, const std::string& id);
  std::vector<std::pair<std::string, std::string>> list(const std::string& owner,
                                                        sys::Nanoseconds now);  // id, name

 private:
  struct Entry {
    StoredFilePtr file;
    std::shared_ptr<const runtime::Artefact> executable;
    uint64_t bytes = 0;
    sys::Nanoseconds used{};
    std::list<std::string>::iterator place;
  };
  Entry* entry_of(const std::string& owner, const std::string& id, sys::Nanoseconds now);
  void drop_unused(sys::Nanoseconds now);
  void drop(const std::string& id);
  bool leaves_others_room(const std::string& owner, uint64_t bytes) const;
  void drop_executable(const std::string& id);

  const Limits limits_;
  std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
  std::list<std::string> by_use_;  // the least recently used first
  std::list<std::string> made_;    // the ids of those that have an executable, likewise
  uint64_t bytes_ = 0;
};

}  // namespace service
