#pragma once
// The heap image. A fork copies the page tables of every area that its parent has written to: that
// is most of the price of a fork from an interpreter full of modules. So a template's last step
// moves its private memory into a file, mapped privately at the same addresses: an area of a file
// that nobody has written to since is not copied by a fork but faulted in from the page cache, and
// neighbouring areas of one file become one.
//
// Some memory must not move, because a file mapping differs from anonymous memory: large malloc
// blocks (realloc moves or grows them by mremap, past the file's end), areas of foreign allocators
// (a purge by MADV_DONTNEED brings back the file's bytes, not zeros), the stack. These stay as they
// are.
//
// The file is mapped once more at kViewAddress (memory_map.h), to be read: a holder takes from
// there the first content of pages that it puts back (shim/borrow), so that no cell has a copy of
// them.

#include <cstddef>

namespace shim {

enum class HeapMode : unsigned char {
  kPlain,   // leave everything as it is: the twin that tests compare with
  kMoved,   // written-to areas only, in a memfd
  kMerged,  // text and constants too, so that the kernel joins areas; never writable and executable
  kHuge,    // merged, on a private tmpfs of huge pages
};

// plain, moved, merged or huge; anything else is plain.
HeapMode heap_mode_named(const char* word);

struct HeapImage {
  size_t areas = 0;  // moved
  size_t bytes = 0;  // copied
  int error = 0;     // errno if nothing was moved: the template goes on with its plain heap
};

// Moves this process's memory. Single-threaded, no other user of its memory, kProcFd open; for
// kHuge the right to mount. After it the process runs C++ only.
HeapImage make_heap_image(HeapMode mode);

}  // namespace shim
