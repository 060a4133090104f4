#include "runtime/sessions/write_tracking.h"

#include <algorithm>

#include "runtime/sessions/scratch_look.h"
#include "sandbox/sys/userfault.h"

namespace runtime {

using sys::Error;
using sys::Result;

using shim::state::kPageBytes;
using shim::state::Run;

namespace {

// To protect so many pages once more takes as long as another call.
constexpr uint64_t kFewPages = 64;

// Whether to give up is asked before so many calls, as the answer takes as long as one of them.
constexpr uint64_t kCallsAtOnce = 4;

// Runs side by side are of one piece here, whatever file they lie in. No further than `most`.
uint64_t end_of_pages(Runs::const_iterator from, Runs::const_iterator end, uint64_t most) {
  uint64_t until = from->end();
  while (until < most && ++from != end && from->begin == until) until = from->end();
  return std::min(until, most);
}

}  // namespace

Runs spans_to_protect(const Runs& own, const Runs& unwritten) {
  Runs spans;
  auto around = own.begin();
  for (const Run& part : overlap_of(own, unwritten).alone) {
    while (around->end() <= part.begin) ++around;
    const bool goes_on = !spans.empty() && spans.back().begin >= around->begin &&
                         part.begin - spans.back().end() <= kFewPages * kPageBytes;
    if (goes_on)
      spans.back().pages = (part.end() - spans.back().begin) / kPageBytes;
    else
      spans.push_back(part);
  }
  return spans;
}

// By addresses, and not by PAGEMAP_SCAN, which leaves out pages that have the mark of protection
// already: one that was moved has it on some kernels, although it can be written to.
Result<void> protect_pages(int tracking, const std::vector<AddressArea>& areas, const Runs& pages,
                           const std::function<bool()>& give_up) {
  auto page = pages.begin();
  uint64_t calls = 0;
  for (const AddressArea& area : areas) {
    while (page != pages.end() && page->end() <= area.begin) ++page;
    if (page == pages.end()) break;
    if (page->begin >= area.end) continue;
    if (!sys::track_writes(tracking, area.begin, area.end))
      return Error::from_errno("track what is written to");
    for (auto each = page; each != pages.end() && each->begin < area.end;) {
      if (calls++ % kCallsAtOnce == 0 && give_up()) return Error::because(kTakesTooLong);
      const uint64_t begin = std::max(each->begin, area.begin);
      const uint64_t end = end_of_pages(each, pages.end(), area.end);
      if (!sys::protect_pages(tracking, begin, end))
        return Error::from_errno("protect what is to be tracked");
      while (each != pages.end() && each->end() <= end) ++each;
      if (end == area.end) break;
    }
  }
  return {};
}

Result<void> protect_node_pages(int tracking, int pid, const NodeState& node,
                                const std::function<bool()>& give_up) {
  const RestingProcess process = TRY(RestingProcess::look_at(pid));
  const NodeTables tables = TRY(tables_of(node));
  const std::vector<AddressArea> areas = trackable_areas(tables.areas, TRY(process.areas()));
  return protect_pages(tracking, areas, tables.runs, give_up);
}

}  // namespace runtime
