// The memory of a holder before its first job: its areas, and the content of their pages.

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "sandbox/sys/userfault.h"
#include "shim/borrow/address_space.h"
#include "shim/borrow/holder.h"

namespace shim::borrow {

static_assert(kViewEnd <= kVaultAddress);

// Pages of its own in an area that cannot be written (relocated data that was closed) could not be
// copied back, and a job can drop them: seals do not keep an area of a file from that (mseal(2)).
bool Holder::read_layout() {
  MemoryMap* map = MemoryMap::create();
  if (!map || !map->read(kFdHolderMaps)) return false;
  uintptr_t last = 0;
  for (const Area& area : *map) {
    if (area.end > end_of_addresses() || areas_ == kMostAreas || gaps_ + 1 == kMostGaps) break;
    if (area.begin > last) gap_[gaps_++] = {last, area.begin};
    last = area.end;
    if (area.is_in_memory() && !area.is_of_view()) image_bytes_ += area.end - area.begin;
    if (!area.is_private) continue;
    if (area.prot & PROT_WRITE) {
      area_[areas_] = changing(area, *map);
      if (area_[areas_++].first) image_bytes_ += area.end - area.begin;
    } else if (find_own(kFdHolderPagemap, Pages::kSwappedToo, area.begin, area.end, regions_,
                        kMostRegions) != 0) {
      map->destroy();
      return false;
    }
  }
  // Without randomisation the stack ends where addresses do, and munmap(2) refuses an empty range.
  if (last < end_of_addresses()) gap_[gaps_++] = {last, end_of_addresses()};
  const bool all = areas_ < kMostAreas && gaps_ < kMostGaps;
  map->destroy();
  return all;
}

// A template may have had memory of its own where the view would be.
Holder::Changing Holder::changing(const Area& area, const MemoryMap& map) {
  const Range range{area.begin, area.end};
  if (area.is_anonymous) return {range, nullptr, true};
  const uintptr_t begin = kViewAddress + area.offset, end = begin + (area.end - area.begin);
  const bool is_viewed = std::any_of(map.begin(), map.end(), [&](const Area& each) {
    return each.begin <= begin && end <= each.end && each.inode == area.inode &&
           each.begin == kViewAddress + each.offset && !(each.prot & PROT_WRITE);
  });
  return {range, is_viewed ? reinterpret_cast<const char*>(begin) : nullptr, is_viewed};
}

// Own pages of the holder at its start are no file's, so a page that a job drops would not come
// back by itself: they are kept for good.
bool Holder::save_first_state() {
  for (size_t i = 0; i < areas_; ++i) {
    const long found = find_own(kFdHolderPagemap, Pages::kSwappedToo, area_[i].begin, area_[i].end,
                                regions_, kMostRegions);
    if (found < 0) return false;
    for (long r = 0; r < found; ++r) {
      for (uintptr_t page = regions_[r].begin; page < regions_[r].end; page += kPageBytes) {
        if (!keep(page)) return false;
      }
    }
  }
  for (size_t i = 0; tracks_ && i < areas_; ++i) {
    if (!sys::protect_pages(kFdTracking, area_[i].begin, area_[i].end)) return false;
  }
  return true;
}

// While the holder has its first content.
bool Holder::keep(uintptr_t page) {
  if (kept_.size() == most_kept_) return false;
  char* copy = vault_ + kProgramBytes + kept_.size() * kPageBytes;
  if (!read_page(page, copy)) return false;
  kept_.add({page, copy, false});
  return true;
}

bool Holder::read_page(uintptr_t page, char* into) const {
  return ::pread(kFdHolderMemory, into, kPageBytes, static_cast<off_t>(page)) == kPageBytes;
}

// The page is none of the holder's own. Null: its first content is not known.
const char* Holder::first_content_of(uintptr_t page) const {
  const Changing* end = area_ + areas_;
  const Changing* area = std::find_if(
      area_, end, [page](const Changing& each) { return each.begin <= page && page < each.end; });
  if (area == end || !area->is_known) return nullptr;
  return area->first ? area->first + (page - area->begin) : zeros_;
}

// All of the vault is charged to the cell from the start, so that no job is charged for it; what it
// will not need is no part of it, or a job that reads there would make pages. The view's pages are
// there. Where a job's memory is what is resident more than before it, all of them are read now, so
// that no job seems to have done it.
bool Holder::take_room(int vault_file) {
  first_kept_ = kept_.size();
  most_kept_ = std::min(first_kept_ + most_warm_pages(), kMostKept);
  const size_t used = kProgramBytes + first_kept_ * kPageBytes;
  if (::ftruncate(vault_file, static_cast<off_t>(used + kPageBytes)) < 0) return false;
  std::memset(vault_, 0, kProgramBytes);
  zeros_ = static_cast<char*>(std::memset(vault_ + used, 0, kPageBytes));
  begin_program();
  if (counts_residence_) read_view();
  end_program();
  return restore_now();
}

void Holder::read_view() {
  for (size_t i = 0; i < areas_ && has_room_for_call(); ++i) {
    const Changing& area = area_[i];
    const long size = static_cast<long>(area.end - area.begin);
    if (area.first)
      add({SYS_madvise, reinterpret_cast<long>(area.first), size, MADV_POPULATE_READ, 0});
  }
}

}  // namespace shim::borrow
