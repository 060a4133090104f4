#pragma once
// The source of an import, recognised by content: an OCI image layout or a root file system, each
// as a directory or as a tar archive of any compression, the output of `docker save`, and a packed
// environment (pack.h).

#include <string>

#include "images/config.h"
#include "images/progress.h"
#include "images/tree/tree_writer.h"

namespace images {

struct Unpacked {
  ImageConfig config;  // empty for a root file system
  std::string digest;  // what a packed environment says that its image's is; empty: not said
  TreeTally tally;
};

// Makes the root file system as `rootfs` in the directory `workspace`, which is the caller's to
// remove if this fails. The error names `path` and what in it is wrong.
sys::Result<Unpacked> unpack_source(const std::string& path, int workspace,
                                    const TreeLimits& limits, const Watch& watch = {});

inline constexpr const char* kRootfs = "rootfs";

// An empty `rootfs` in the workspace.
sys::Result<TreeWriter> make_rootfs(int workspace, const TreeLimits& limits);

}  // namespace images
