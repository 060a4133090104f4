#pragma once
// The identity of a root file system as one SHA-256: for every path its type, its mode, and its
// content's digest or a link's target, directory by directory, names in the order of their bytes.
// Times and owners count for nothing.

#include <string>

#include "images/config.h"
#include "images/progress.h"
#include "sandbox/sys/result.h"

namespace images {

struct TreeFacts {
  std::string digest;               // 64 hexadecimal digits
  uint64_t bytes = 0, entries = 0;  // of all files, and of all paths
};
// Reads every file; `total` is for the watch, in bytes.
sys::Result<TreeFacts> look_through(int directory, uint64_t total, const Watch& watch = {});

// "sha256:HEX": the name of an image with this tree and this configuration.
std::string digest_of_image(const TreeFacts& tree, const ImageConfig& config);

}  // namespace images
