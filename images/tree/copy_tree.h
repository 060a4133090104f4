#pragma once
// Copies a directory of the host as a root file system: TreeWriter's refusals apply, hard links
// among its files stay hard links, holes stay holes. Other file systems mounted in it are left out
// (/proc of a running chroot). Nothing is followed out of it.

#include <string>

#include "images/progress.h"
#include "images/tree/tree_writer.h"

namespace images {

// `label` names the directory in errors; `below` is where it goes, a path of path_of(), empty: the
// root. The directory that `into` writes in may not lie in it.
sys::Result<void> copy_tree(int directory, const std::string& label, TreeWriter& into,
                            const Watch& watch = {}, const std::string& below = "");

}  // namespace images
