// The areas of two processes, as the kernel tells them with names of a program's choice: what is
// found to differ lies within them, in order, and nothing differs from itself.

#include <algorithm>
#include <string_view>
#include <utility>

#include "runtime/sessions/address_areas.h"
#include "sandbox/sys/result.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t half = std::min(text.find('%'), text.size());
  const auto before = runtime::parse_maps(text.substr(0, half));
  const auto now = runtime::parse_maps(text.substr(std::min(half + 1, text.size())));
  if (!before || !now) return 0;
  using shim::state::AreaKind;
  constexpr uint64_t kSaid = 0x60000;
  const uint64_t start = now->empty() ? 0 : now->front().begin;
  const uint64_t brk = end_of_heap(*before, *now, start, kSaid);
  VERIFY(start <= brk && (brk == kSaid || now->empty() || brk <= now->back().end));
  for (const runtime::AreaChange& each : runtime::changes_of(*now, *now, brk).changes)
    VERIFY(each.kind == AreaKind::kUnwritten);

  const runtime::AreaChanges found = runtime::changes_of(*before, *now, brk);
  uint64_t end = 0;
  bool are_differences = true;
  for (const runtime::AreaChange& each : found.changes) {
    if (each.kind == AreaKind::kUnwritten && std::exchange(are_differences, false)) end = 0;
    VERIFY(are_differences == (each.kind != AreaKind::kUnwritten));
    VERIFY(each.begin >= end && each.begin < each.end);
    end = each.end;
    const auto covers = [&each](const runtime::AddressArea& area) {
      return area.begin < each.end && each.begin < area.end && !is_no_state(area);
    };
    const bool is_there = std::any_of(now->begin(), now->end(), covers);
    VERIFY(is_there == (each.kind != AreaKind::kNone));
    VERIFY(is_there || std::any_of(before->begin(), before->end(), covers));
  }
  return 0;
}
