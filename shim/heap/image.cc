#include "shim/heap/image.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "shim/heap/memory_map.h"
#include "shim/protocol.h"

namespace shim {

namespace {

// The image's file: written through one descriptor, mapped through another that is read-only, so
// that no process can ever change what all the others share. Neither outlives the move.
struct ImageFile {
  int writer = -1;
  int reader = -1;
  ~ImageFile() {
    if (writer >= 0) ::close(writer);
    if (reader >= 0) ::close(reader);
  }
};

int open_on_huge_tmpfs() {
  constexpr const char* kPlace =
      "/tmp";  // the mount point of the cells' scratch, unused in the template
  if (::mount("zygo-image", kPlace, "tmpfs", MS_NOSUID | MS_NODEV, "huge=always,mode=700") < 0)
    return -1;
  int fd = ::open(kPlace, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  int error = errno;
  ::umount2(kPlace, MNT_DETACH);
  errno = error;
  return fd;
}

bool open_image(ImageFile& file, HeapMode mode) {
  if (mode == HeapMode::kHuge) file.writer = open_on_huge_tmpfs();
  // Where nothing can be mounted: small pages.
  if (file.writer < 0) file.writer = ::memfd_create("zygo-image", MFD_CLOEXEC);
  if (file.writer < 0) return false;
  char path[32];
  std::snprintf(path, sizeof path, "self/fd/%d", file.writer);
  file.reader = ::openat(kProcFd, path, O_RDONLY | O_CLOEXEC);
  return file.reader >= 0;
}

bool may_move(const Area& area, const MemoryMap& map, HeapMode mode) {
  if (!area.is_private || area.is_special || !(area.prot & PROT_READ)) return false;
  if (area.is_anonymous && !area.is_heap && map.has_foreign_allocator()) return false;
  if (area.is_anonymous) return (area.prot & PROT_WRITE) != 0;
  return area.is_object && (mode != HeapMode::kMoved || (area.prot & PROT_WRITE));
}

// glibc serves large blocks by mmap and puts the block's size, with bit 1 set, into the second word
// of its first page (malloc.c, IS_MMAPPED). Returns the block's length, or 0.
size_t malloc_block_at(uintptr_t page, uintptr_t end) {
  const auto* words = reinterpret_cast<const size_t*>(page);
  size_t size = words[1] & ~size_t{7};
  bool looks_so = words[0] == 0 && (words[1] & 7) == 2 && size % kPage == 0 && size >= 2 * kPage &&
                  size <= end - page;
  return looks_so ? size : 0;
}

struct Run {
  uintptr_t begin = 0, end = 0;
};

bool holds_huge_page(uintptr_t begin, uintptr_t end) {
  return (begin + kHugePage - 1) / kHugePage * kHugePage + kHugePage <= end;
}

class Mover {
 public:
  Mover(ImageFile& file, const MemoryMap& map, HeapMode mode)
      : file_(file), map_(map), mode_(mode) {}

  HeapImage move_all() {
    for (const Area& area : map_) {
      if (!may_move(area, map_, mode_)) continue;
      if (area.is_anonymous && !area.is_heap) {
        move_around_blocks(area);
      } else {
        move(area, area.begin, area.end);
      }
    }
    map_view();
    return image_;
  }

 private:
  // Large malloc blocks inside an anonymous area stay; what lies between them moves.
  void move_around_blocks(const Area& area) {
    uintptr_t from = area.begin;
    for (uintptr_t page = area.begin; page < area.end;) {
      size_t block = is_there(page) ? malloc_block_at(page, area.end) : 0;
      if (block == 0) {
        page += kPage;
        continue;
      }
      if (from < page) move(area, from, page);
      page += block;
      from = page;
    }
    if (from < area.end) move(area, from, area.end);
  }

  bool is_there(uintptr_t page) {
    const uint64_t* entry = pages_.read(page, 1);
    return entry && PageMap::is_there(*entry);
  }

  void move(const Area& area, uintptr_t begin, uintptr_t end) {
    place(area, begin, end);
    if (!copy(area, begin, end)) return give_up_place(end - begin);
    int prot = area.prot;
    // One protection for all that cannot be written lets the kernel join text and constants.
    if (mode_ != HeapMode::kMoved && !(prot & PROT_WRITE)) prot = PROT_READ | PROT_EXEC;
    auto* at = reinterpret_cast<void*>(begin);
    if (::mmap(at, end - begin, prot, MAP_PRIVATE | MAP_FIXED, file_.reader,
               static_cast<off_t>(offset_)) != at) {
      std::abort();  // the area is gone: nothing can go on
    }
    if (begin >= run_.begin && end <= run_.end) ::madvise(at, end - begin, MADV_HUGEPAGE);
    ++image_.areas;
    offset_ += end - begin;
    previous_end_ = end;
  }

  // Some of it may have been written, which is no other area's.
  void give_up_place(size_t size) {
    map_view();
    offset_ += size;
    viewed_ = offset_;
    previous_end_ = 0;
  }

  // Maps the part of the file behind the last view. Where that fails, a holder drops pages that it
  // could have put back.
  void map_view() {
    if (viewed_ < offset_) {
      (void)::mmap(reinterpret_cast<void*>(kViewAddress + viewed_), offset_ - viewed_, PROT_READ,
                   MAP_PRIVATE | MAP_FIXED_NOREPLACE, file_.reader, static_cast<off_t>(viewed_));
    }
    viewed_ = offset_;
  }

  // Neighbours in memory are neighbours in the file; a gap in memory is a gap in the file, so that
  // a mapping that grows meets zeros first. What huge pages are to map wants address and offset
  // congruent. The rest must not be: template and cell write to it, and of what they write to a
  // fork copies all that is mapped, which would be huge pages whole.
  void place(const Area& area, uintptr_t begin, uintptr_t end) {
    if (end <= run_.end) return;  // inside of one that was placed
    const Run run = mode_ == HeapMode::kHuge ? large_run_at(area) : Run();
    if (run.end == 0) {
      if (begin == previous_end_) return;
      (void)allocate(kPage);  // a view has it, too; without it there is no room for an area either
      offset_ += kPage;
      return;
    }
    map_view();
    offset_ = (offset_ + kPage + kHugePage - 1) / kHugePage * kHugePage + begin % kHugePage;
    viewed_ = offset_;
    run_ = run;
  }

  // Text and constants of one object lie side by side and become one area, which a huge page may
  // map although none of them alone would hold one. Empty where the whole does not, either.
  Run large_run_at(const Area& first) const {
    Run run{first.begin, first.end};
    if (first.prot & PROT_WRITE) return {};
    for (const Area* next = &first + 1; next != map_.end(); ++next) {
      if (next->begin != run.end || (next->prot & PROT_WRITE) || !may_move(*next, map_, mode_))
        break;
      run.end = next->end;
    }
    return holds_huge_page(run.begin, run.end) ? run : Run();
  }

  bool copy(const Area& area, uintptr_t begin, uintptr_t end) {
    for (uintptr_t at = begin; at < end;) {
      size_t count = (end - at) / kPage;
      if (count > PageMap::kWindow) count = PageMap::kWindow;
      const uint64_t* entries = pages_.read(at, count);
      if (!entries) return false;
      for (size_t i = 0; i < count;) {
        if (area.is_anonymous && !PageMap::is_there(entries[i])) {
          ++i;  // never touched, so zeros
          continue;
        }
        size_t first = i;
        while (i < count && (!area.is_anonymous || PageMap::is_there(entries[i]))) ++i;
        if (!write_pages(at + first * kPage, i - first, offset_ + (at - begin) + first * kPage))
          return false;
      }
      at += count * kPage;
    }
    return allocate(end - begin);
  }

  // The next part of the file. A page that is not there yet would be made for whoever reads it
  // first, and charged to that job's cell for as long as the cell lives.
  bool allocate(size_t size) const {
    return ::fallocate(file_.writer, 0, static_cast<off_t>(offset_), static_cast<off_t>(size)) == 0;
  }

  bool write_pages(uintptr_t from, size_t count, uint64_t to) {
    size_t left = count * kPage;
    while (left > 0) {
      ssize_t n =
          ::pwrite(file_.writer, reinterpret_cast<const void*>(from), left, static_cast<off_t>(to));
      // A file's mapping may be longer than the file: those pages cannot be read, by anybody.
      if (n < 0) return errno == EFAULT;
      from += static_cast<size_t>(n);
      to += static_cast<uint64_t>(n);
      left -= static_cast<size_t>(n);
      image_.bytes += static_cast<size_t>(n);
    }
    return true;
  }

  ImageFile& file_;
  const MemoryMap& map_;
  HeapMode mode_;
  PageMap pages_;
  HeapImage image_;
  uint64_t offset_ = 0;
  uint64_t viewed_ = 0;  // what lies before it is in a view, or in none
  uintptr_t previous_end_ = 0;
  Run run_;  // of areas that are placed so that huge pages can map them
};

}  // namespace

HeapMode heap_mode_named(const char* word) {
  if (std::strcmp(word, "moved") == 0) return HeapMode::kMoved;
  if (std::strcmp(word, "merged") == 0) return HeapMode::kMerged;
  if (std::strcmp(word, "huge") == 0) return HeapMode::kHuge;
  return HeapMode::kPlain;
}

HeapImage make_heap_image(HeapMode mode) {
  HeapImage none;
  if (mode == HeapMode::kPlain) return none;
  MemoryMap* map = MemoryMap::create();
  ImageFile file;
  if (!map || !map->read() || !open_image(file, mode)) {
    none.error = errno;
    if (map) map->destroy();
    return none;
  }
  uint64_t total = 0;
  for (const Area& area : *map) total += area.end - area.begin + 2 * kHugePage;
  HeapImage image = ::ftruncate(file.writer, static_cast<off_t>(total)) == 0
                        ? Mover(file, *map, mode).move_all()
                        : none;
  map->destroy();
  return image;
}

}  // namespace shim
