#pragma once
// Writes a directory of ours as a tar archive with zstd, the same bytes for the same files: names
// sorted by their bytes, no owners, times in whole seconds and of regular files only.

#include <string>
#include <string_view>

#include "images/progress.h"
#include "sandbox/sys/result.h"

namespace images {

struct FirstMember {
  std::string name;
  std::string_view content;
};

// `first` comes before everything else. `file` is at its start; `total`, in bytes, is for the
// watch. The error names the member.
sys::Result<void> write_archive(int directory, const FirstMember& first, int file, uint64_t total,
                                const Watch& watch = {});

}  // namespace images
