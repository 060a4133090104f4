#pragma once
// What lies in a scratch, for a node. Whoever could change it has stopped.

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"
#include "shim/state/format.h"

namespace runtime {

struct ScratchEntry {
  shim::state::EntryKind kind = shim::state::EntryKind::kFile;
  std::string path;    // relative
  std::string target;  // of links
  uint32_t mode = 0;
  int64_t seconds = 0, nanoseconds = 0;
  uint64_t size = 0;
};

// Why nothing is kept where looking was given up.
inline constexpr const char* kTakesTooLong = "what takes too long to read";

using FileNumber =
    std::pair<uint64_t, uint64_t>;  // device and inode; of a device: 0 and its number
FileNumber number_of_file(const struct stat& status);
FileNumber number_of_file(int fd);  // zeros: it cannot be told

struct ScratchLook {
  std::vector<ScratchEntry> entries;          // parents first
  std::map<FileNumber, std::string> path_of;  // the first of each file and directory; "": itself
  uint64_t bytes = 0;                         // of all contents
  std::string cannot;                         // be kept, in words; empty: all can
};

struct ScratchBounds {
  uint64_t bytes = 0, entries = 0;
  std::function<bool()> give_up = [] { return false; };  // asked for each entry
};
// An error is a lack of means of ours.
sys::Result<ScratchLook> look_at_scratch(int directory, const ScratchBounds& bounds);

// Reads the content of a file that was found, in pieces. `take` ends it by an error.
sys::Result<void> read_content(int directory, const ScratchEntry& entry,
                               const std::function<sys::Result<void>(std::string_view)>& take);

}  // namespace runtime
