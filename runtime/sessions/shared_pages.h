#pragma once
// SharedPages: which pages of a process are as the node has them that it went on from, so that the
// next node need not have them once more. Looked at page by page: what a step has written may be
// what was there.

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/sessions/node_file.h"
#include "runtime/sessions/process_look.h"
#include "sandbox/sys/result.h"
#include "shim/state/format.h"

namespace runtime {

using Runs = std::vector<shim::state::Run>;

// A node's own file tells of its areas and pages.
struct NodeTables {
  std::vector<shim::state::Area> areas;
  Runs runs;
  std::vector<shim::state::Entry> entries;
};
sys::Result<NodeTables> tables_of(const NodeState& node);

// The part of `runs` that lies in those of the other, with their places in its files; and the rest.
// Both are in the order of addresses. Pure.
struct Overlap {
  Runs both, alone;
};
Overlap overlap_of(const Runs& runs, const Runs& of_node);

// Runs in order, those that go on joined. Pure.
Runs joined(Runs runs);

// Of the files that `runs` name, which are worth to be kept for them: those that have most, no more
// than a node may have beside its own, and so that what of them nobody needs is at most a quarter
// of the state, or a megabyte. The rest becomes own. Returns the files in their new numbers, from 1
// on. Pure.
std::vector<std::shared_ptr<const NodeContents>> choose_files(
    Runs& runs, const std::vector<std::shared_ptr<const NodeContents>>& files);

struct SharedPages {
  Runs runs;
  std::vector<std::shared_ptr<const NodeContents>> files;  // from 1 on
};
struct Sharing {
  const NodeState& from;
  const RestingProcess& process;
  bool verifies = false;  // that what has not been written to is as it was
  // Is asked again and again; true: then an error comes.
  const std::function<bool()>& give_up;
};
// A small state that has to be read has all of its own. `unwritten`: what of `own` is known to be
// as the node has it, and is not read.
sys::Result<SharedPages> share_pages(Runs own, const Runs& unwritten, const Sharing& sharing);

}  // namespace runtime
