#pragma once
// What a job left in its scratch, read by the daemon once every process of the job is gone and
// before anything is wiped. Names and contents are hostile bytes: no link is followed, nothing but
// regular files is opened, and walk and size are bounded.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/job.h"
#include "sandbox/sys/units.h"

namespace runtime {

struct Harvest {
  std::vector<InputFile> files;  // in the order of their paths
  struct Refused {
    std::string path, why;
    bool operator==(const Refused&) const = default;
  };
  std::vector<Refused> refused;
  int lack = 0;  // errno: descriptors or memory of ours ran out, so there may be more
};

// The files below `directory` whose paths match one of `globs`: `*` and `?` and `[..]` within a
// part of a path, `**` for any number of parts. Together at most `most` bytes; a file that would
// exceed it is refused, as are links, pipes, sockets and devices. A glob that ends in a slash is
// for directories, which are files without content whose paths end in one. `owner`: whose files
// they are, where they are not ours.
Harvest harvest(int directory, const std::vector<std::string>& globs, sys::Bytes most,
                std::optional<uint32_t> owner);

bool glob_matches(std::string_view glob, std::string_view path);

}  // namespace runtime
