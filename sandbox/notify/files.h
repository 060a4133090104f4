#pragma once
// Calls that change files by path: which paths they touch, and whether those lie in the scratch
// directory of the cell. Daemon side; the answer only decides a label (see notify.h).

#include <optional>
#include <string>

#include "sandbox/notify/notify.h"
#include "sandbox/sys/fd.h"

namespace sandbox {

struct FileCall;
// Null if the call (of our own ABI) changes no file by path.
const FileCall* file_call(int number);

enum class Reach : uint8_t {
  kNothing,  // the kernel will fail it by itself, or a harmless device is meant
  kScratch,
  kOutside,
  kUnreadable,  // the path could not be read
  kUnknown,     // the path could not be followed
  kUnseen,      // we could not look: descriptors or memory of ours have run out
};
struct FileReach {
  Reach reach = Reach::kUnknown;
  std::string path;  // the one that decided; absolute where that could be found out
};
// The worst of the call's paths.
FileReach reach_of(const FileCall& call, const CellView& cell, const Notice& notice);

// The file that a call with one path names, for code that acts on it itself: a descriptor (O_PATH),
// the number of one of the caller's own where the path names that, or the errno of a missing file.
struct FileTarget {
  sys::OwnedFd file;
  std::optional<int> descriptor = {};
  int error = 0;
};
FileTarget target_of(const FileCall& call, const CellView& cell, const Notice& notice);

}  // namespace sandbox
