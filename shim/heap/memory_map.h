#pragma once
// This process's own address space as the kernel tells it: areas from /proc/self/maps and pages
// from /proc/self/pagemap, read through kProcFd. Used by the template while it turns its memory
// into the heap image: nothing here touches the heap, so that reading does not change what is read.

#include <cstddef>
#include <cstdint>

namespace shim {

inline constexpr uintptr_t kPage = 4096;
inline constexpr uintptr_t kHugePage = uintptr_t{2} << 20;

// Where the image's file is mapped once more, to be read: this address and the place in the file
// (image.h). What is above belongs to the vault of a holder (shim/borrow/vault.h).
constexpr uintptr_t kViewAddress = 0x6e0000000000, kViewEnd = 0x6f0000000000;

struct Area {
  uintptr_t begin = 0, end = 0;
  uint64_t inode = 0, offset = 0;  // of its file; 0: there is none
  int prot = 0;                    // PROT_*
  bool is_private = false;
  bool is_anonymous = false;  // no file behind it
  bool is_heap = false;       // [heap], which brk(2) moves
  bool is_stack = false;
  bool is_special = false;  // stack, vdso, vvar, vsyscall
  bool is_object = false;   // an ELF object's file: a program or a shared library
  // Once there is one: nothing else maps files privately.
  bool is_of_image() const { return is_private && !is_special && !is_anonymous; }
  bool is_of_view() const { return begin >= kViewAddress && end <= kViewEnd; }
  // Its pages are those of a file in memory, or shared.
  bool is_in_memory() const { return !is_private || (is_of_image() && !is_object); }
};

// Working memory for one reading; shared, so that it is no part of the image.
class MemoryMap {
 public:
  static MemoryMap* create();  // null with errno; never freed but by destroy()
  void destroy();

  bool read();          // false with errno
  bool read(int maps);  // another process's, by its /proc/PID/maps
  const Area* begin() const { return areas_; }
  const Area* end() const { return areas_ + count_; }
  // A library that brings its own allocator: its memory may be purged in ways a file mapping
  // does not survive (MADV_DONTNEED gives the file's bytes, not zeros).
  bool has_foreign_allocator() const { return foreign_allocator_; }

 private:
  void parse_line(char* line);
  static constexpr size_t kMaxAreas = 8192;
  static constexpr size_t kTextBytes = size_t{4} << 20;
  size_t count_;
  bool foreign_allocator_;
  Area areas_[kMaxAreas];
  char text_[kTextBytes];
};

// The pagemap entries of [begin, begin + count pages) (Documentation/admin-guide/mm/pagemap.rst).
class PageMap {
 public:
  PageMap();
  ~PageMap();
  // Entries for at most kWindow pages; null with errno. Valid until the next call.
  const uint64_t* read(uintptr_t begin, size_t count);
  static constexpr size_t kWindow = 16384;

  static bool is_there(uint64_t entry) { return entry >> 62; }  // present or swapped
  // Written to, by this process or by one that it was forked from.
  static bool is_anonymous(uint64_t entry) { return (entry >> 63) && !((entry >> 61) & 1); }
  // Written to by this process: nobody else maps it.
  static bool is_own(uint64_t entry) { return is_anonymous(entry) && ((entry >> 56) & 1); }

 private:
  int fd_;
  uint64_t* entries_;
};

}  // namespace shim
