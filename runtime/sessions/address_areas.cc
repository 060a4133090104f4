#include "runtime/sessions/address_areas.h"

#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace runtime {

using shim::state::AreaKind;
using shim::state::kPageBytes;

namespace {

constexpr std::string_view kHeap = "[heap]", kAnonymous = "[anon", kStack = "[stack]";

// Reads one line from its front; a step that fails makes it broken.
class Line {
 public:
  explicit Line(std::string_view text) : rest_(text) {}
  bool broken() const { return broken_; }

  uint64_t hex(char behind) { return number(16, behind); }
  uint64_t decimal(char behind) { return number(10, behind); }
  std::string_view word() {
    const size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return found;
  }
  std::string_view rest() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
    return rest_;
  }

 private:
  uint64_t number(int base, char behind) {
    uint64_t value = 0;
    const char* end = rest_.data() + rest_.size();
    const auto [at, error] = std::from_chars(rest_.data(), end, value, base);
    broken_ = broken_ || error != std::errc() || (at != end && *at != behind);
    rest_.remove_prefix(std::min<size_t>(static_cast<size_t>(at - rest_.data()) + 1, rest_.size()));
    return value;
  }

  std::string_view rest_;
  bool broken_ = false;
};

std::optional<AddressArea> parse_line(std::string_view text) {
  Line line(text);
  AddressArea area;
  area.begin = line.hex('-');
  area.end = line.hex(' ');
  const std::string_view flags = line.word();
  area.offset = line.hex(' ');
  const uint64_t major = line.hex(':'), minor = line.hex(' ');
  area.inode = line.decimal(' ');
  area.device = major << 32 | minor;
  area.path = line.rest();
  if (line.broken() || flags.size() != 4 || area.begin >= area.end) return std::nullopt;
  area.protection = (flags[0] == 'r' ? PROT_READ : 0u) | (flags[1] == 'w' ? PROT_WRITE : 0u) |
                    (flags[2] == 'x' ? PROT_EXEC : 0u);
  area.is_shared = flags[3] == 's';
  return area;
}

bool is_anonymous(const AddressArea& area) { return area.inode == 0; }

// The same pages lie behind both at one address.
bool have_same_backing(const AddressArea& a, const AddressArea& b) {
  if (a.is_shared != b.is_shared || a.inode != b.inode) return false;
  if (is_anonymous(a)) return true;
  return a.device == b.device && a.offset - a.begin == b.offset - b.begin;
}

bool goes_on(const AreaChange& last, const AreaChange& next) {
  if (last.end != next.begin || last.kind != next.kind || last.protection != next.protection)
    return false;
  return last.kind != AreaKind::kFile || (last.device == next.device && last.inode == next.inode &&
                                          last.offset + (last.end - last.begin) == next.offset);
}

void append(std::vector<AreaChange>& changes, AreaChange next) {
  if (!changes.empty() && goes_on(changes.back(), next)) {
    changes.back().end = next.end;
  } else {
    changes.push_back(std::move(next));
  }
}

// One side of the comparison: the area that covers an address, if one does.
class Side {
 public:
  explicit Side(const std::vector<AddressArea>& areas) : areas_(areas) {}
  const AddressArea* at(uint64_t address) {
    while (next_ < areas_.size() && areas_[next_].end <= address) ++next_;
    const bool covers = next_ < areas_.size() && areas_[next_].begin <= address;
    return covers ? &areas_[next_] : nullptr;
  }

 private:
  const std::vector<AddressArea>& areas_;
  size_t next_ = 0;
};

// Of [begin, end), where neither side changes; none: it is the same on both.
std::optional<AreaChange> change_of(const AddressArea* before, const AddressArea* now,
                                    uint64_t begin, uint64_t end) {
  AreaChange change;
  change.begin = begin;
  change.end = end;
  if (!now) return before ? std::optional(change) : std::nullopt;
  change.protection = now->protection;
  if (before && have_same_backing(*before, *now)) {
    if (before->protection == now->protection) return std::nullopt;
    change.kind = AreaKind::kProtection;
  } else if (is_anonymous(*now)) {
    // brk(2) alone would leave the image that was there before in its place.
    change.kind = now->path == kHeap && !before ? AreaKind::kHeap : AreaKind::kAnonymous;
  } else {
    change.kind = AreaKind::kFile;
    change.offset = now->offset + (begin - now->begin);
    change.device = now->device;
    change.inode = now->inode;
    change.path = now->path;
  }
  return change;
}

// The kernel leaves so much room below a stack at least (mmap_base(), mm/util.c), so that nothing
// comes there by itself.
constexpr uint64_t kBelowStack = uint64_t{128} << 20;

// What puts a node back stands on the stack, calls the kernel by the code that the kernel gives,
// and has areas of its own: what a program put there would be put on top of that.
bool meets_what_restores(const std::vector<AddressArea>& before,
                         const std::vector<AddressArea>& now) {
  for (const AddressArea& was : before) {
    if (!is_no_state(was)) continue;
    const uint64_t begin = was.path == kStack ? was.end - kBelowStack : was.begin;
    const bool meets = std::any_of(now.begin(), now.end(), [&was, begin](const AddressArea& is) {
      return !is_no_state(is) && is.begin < was.end && is.end > begin;
    });
    if (meets) return true;
  }
  return false;
}

// Where a step has something of ours, the answer and the request, a program has put something of
// its own.
bool lies_among_ours(const AddressArea& area, const std::vector<AddressArea>& before,
                     uint64_t request_bytes) {
  using namespace shim::state;
  if (area.end <= kAnswerAddress || area.begin >= kEndOfOurs) return false;
  const uint64_t pages = request_bytes / kPageBytes + 1;  // with a NUL
  const bool is_request =
      area.begin == kRequestAddress && area.end == kRequestAddress + pages * kPageBytes;
  return !is_request && std::find(before.begin(), before.end(), area) == before.end();
}

void append_unwritten(const std::vector<AddressArea>& now, std::vector<AreaChange>& changes) {
  for (const AddressArea& area : now) {
    if (area.is_shared || (area.protection & PROT_EXEC) || is_no_state(area)) continue;
    AreaChange change;
    change.begin = area.begin;
    change.end = area.end;
    change.kind = AreaKind::kUnwritten;
    append(changes, std::move(change));
  }
}

}  // namespace

std::optional<std::vector<AddressArea>> parse_maps(std::string_view text) {
  std::vector<AddressArea> areas;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    auto area = parse_line(text.substr(0, end));
    const bool in_order = area && (areas.empty() || areas.back().end <= area->begin);
    if (!in_order) return std::nullopt;
    areas.push_back(std::move(*area));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return areas;
}

bool is_no_state(const AddressArea& area) {
  const bool is_kernels =
      area.path.starts_with('[') && area.path != kHeap && !area.path.starts_with(kAnonymous);
  return is_kernels ||
         (area.end > shim::state::kAnswerAddress && area.begin < shim::state::kEndOfOurs);
}

std::vector<AddressArea> trackable_areas(const std::vector<AddressArea>& before,
                                         const std::vector<AddressArea>& now) {
  std::vector<AddressArea> keep;
  Side first(before);
  for (const AddressArea& area : now) {
    if (area.is_shared || is_no_state(area)) continue;
    const AddressArea* was = first.at(area.begin);
    const bool was_there = was && area.end <= was->end && have_same_backing(*was, area);
    if (is_anonymous(area) || was_there) keep.push_back(area);
  }
  return keep;
}

std::vector<AddressArea> trackable_areas(const std::vector<shim::state::Area>& of_node,
                                         const std::vector<AddressArea>& now) {
  std::vector<AddressArea> keep;
  auto theirs = of_node.begin();
  const auto is_file = [](const shim::state::Area& area) { return area.kind == AreaKind::kFile; };
  for (const AddressArea& area : now) {
    if (area.is_shared || is_no_state(area)) continue;
    // kUnwritten ones come last, in an order of their own.
    while (theirs != of_node.end() && !(is_file(*theirs) && theirs->end > area.begin)) ++theirs;
    if (is_anonymous(area) || theirs == of_node.end() || theirs->begin >= area.end)
      keep.push_back(area);
  }
  return keep;
}

uint64_t end_of_heap(const std::vector<AddressArea>& areas, uint64_t start) {
  uint64_t end = start;
  for (const AddressArea& area : areas) {
    if (area.begin <= end && end < area.end) end = area.end;
  }
  return end;
}

uint64_t end_of_heap(const std::vector<AddressArea>& before, const std::vector<AddressArea>& areas,
                     uint64_t start, uint64_t said) {
  const uint64_t most = end_of_heap(areas, start);
  return end_of_heap(before, start) <= said && said <= most ? said : most;
}

AreaChanges changes_of(const std::vector<AddressArea>& before, const std::vector<AddressArea>& now,
                       uint64_t brk, uint64_t request_bytes) {
  const uint64_t heap_end = (brk + kPageBytes - 1) / kPageBytes * kPageBytes;
  std::vector<uint64_t> borders{heap_end};
  for (const auto* side : {&before, &now}) {
    for (const AddressArea& area : *side) borders.insert(borders.end(), {area.begin, area.end});
  }
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  AreaChanges result;
  Side first(before), second(now);
  for (size_t i = 0; i + 1 < borders.size(); ++i) {
    const AddressArea* was = first.at(borders[i]);
    const AddressArea* is = second.at(borders[i]);
    if ((was && is_no_state(*was)) || (is && is_no_state(*is))) continue;
    auto change = change_of(was, is, borders[i], borders[i + 1]);
    // A mapping behind the heap is one area with it where both have the same flags.
    if (change && change->kind == AreaKind::kHeap && borders[i] >= heap_end)
      change->kind = AreaKind::kAnonymous;
    if (!change) continue;
    // What puts a node back is among it.
    if (was && (was->protection & PROT_EXEC)) result.cannot = "code of its template that it moved";
    if (is && is->is_shared)
      result.cannot = "a shared mapping";
    else if (change->kind == AreaKind::kFile && change->path.ends_with(" (deleted)"))
      result.cannot = "a mapping of a deleted file";
    append(result.changes, std::move(*change));
  }
  const bool meets_ours = std::any_of(now.begin(), now.end(), [&](const AddressArea& area) {
    return lies_among_ours(area, before, request_bytes);
  });
  if (meets_ours) result.cannot = "an area where zygo has its own";
  if (meets_what_restores(before, now)) result.cannot = "a stack that it has changed";
  append_unwritten(now, result.changes);
  return result;
}

}  // namespace runtime
