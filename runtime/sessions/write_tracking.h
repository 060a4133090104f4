#pragma once
// Write protection of another process's pages: the kernel lets each write to them through, and
// PAGEMAP_SCAN tells of it (pagemap.h; Documentation/admin-guide/mm/userfaultfd.rst, WP_ASYNC).

#include <functional>
#include <vector>

#include "runtime/sessions/address_areas.h"
#include "runtime/sessions/shared_pages.h"
#include "sandbox/sys/result.h"

namespace runtime {

// The pages of `own` that are not among `unwritten`, in few runs: of those between two of them a
// few are taken along, where they are own, too. They are protected already, and stay so. Pure.
Runs spans_to_protect(const Runs& own, const Runs& unwritten);

// Protects those of these pages that lie in `areas` (trackable_areas()), both in the order of
// addresses. `tracking`: of that process, which has stopped (shim::JobTracked). Whoever moves an
// area, or makes another in its place, has an area that is not tracked. `give_up` is asked again
// and again; true: then an error comes.
sys::Result<void> protect_pages(int tracking, const std::vector<AddressArea>& areas,
                                const Runs& pages, const std::function<bool()>& give_up);

// The same for all pages of a node that has just been put back into that process, while it waits.
sys::Result<void> protect_node_pages(int tracking, int pid, const NodeState& node,
                                     const std::function<bool()>& give_up);

}  // namespace runtime
