#pragma once
// The files of a directory of the host, on their way into a job's scratch and back. The files that
// come back were made by the program: their names and contents are hostile, no link is followed and
// nothing is written outside of the directory.

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/job/job.h"
#include "sandbox/sys/result.h"
#include "tools/cli/isolate/layout.h"

namespace cli {

// A file that went in: enough to tell whether it has changed.
struct Taken {
  std::string path, digest;
  bool executable = false;
};

struct Contents {
  std::vector<runtime::InputFile> files;  // paths below the scratch; directories end in a slash
  std::vector<Taken> taken;               // of the same
  std::vector<std::string> passed_over;   // what they are, in words
  uint64_t pages_bytes = 0;               // what they take there
};

// Everything in the directory behind `folder` that the program may see: regular files and
// directories.
sys::Result<Contents> take_in(const HostFolder& folder);

// Makes the directory equal to `left`, as far as the program may write there. `taken` are the files
// that went in; other files in it stay. Files that did not change are not touched.
sys::Result<void> bring_back(const HostFolder& folder, const std::vector<Taken>& taken,
                             const std::vector<runtime::InputFile>& left);

// Opens a file below the directory without following links.
sys::Result<sys::OwnedFd> open_beneath(const std::string& directory, const std::string& path,
                                       int flags);

}  // namespace cli
