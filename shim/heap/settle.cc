#include "shim/heap/settle.h"

#include <Python.h>
#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "shim/heap/memory_map.h"

namespace shim {

namespace {

// malloc.c raises its mmap threshold to the size of the largest block by mmap that was freed.
constexpr size_t kServedByHeap = size_t{8} << 20;

// CPython's object allocator: blocks of up to 512 bytes in size classes 16 apart, each from pools
// of its own. A pool begins at a multiple of its size, with a header of 48 bytes before its first
// block (Objects/obmalloc.c: POOL_SIZE, POOL_OVERHEAD).
constexpr size_t kLargestSmallBlock = 512, kSizeStep = 16, kPoolHeader = 48;
constexpr size_t kMostPerClass = size_t{4} << 20;  // bytes: then it is another allocator

size_t pool_size() {
  const char* version = Py_GetVersion();  // "3.11.2 (main, ...)"
  return std::strtol(version + 2, nullptr, 10) >= 10 ? size_t{16} << 10 : size_t{4} << 10;
}

// Takes the free blocks of one class until the allocator has to begin a new pool.
void use_up_class(size_t size, size_t pool) {
  for (size_t taken = 0; taken < kMostPerClass; taken += size) {
    void* block = PyObject_Malloc(size);
    if (!block || reinterpret_cast<uintptr_t>(block) % pool == kPoolHeader) return;
  }
}

// Takes the free chunks below the top of the heap, the large ones first.
void use_up_heap() {
  const uintptr_t top = reinterpret_cast<uintptr_t>(std::malloc(kServedByHeap));
  std::free(reinterpret_cast<void*>(top));
  for (size_t size = size_t{1} << 20; size >= 24; size = size > 2048 ? size / 2 : size - 16) {
    for (;;) {
      void* block = std::malloc(size);
      if (!block) return;
      if (reinterpret_cast<uintptr_t>(block) >= top) {
        std::free(block);
        break;
      }
    }
  }
}

}  // namespace

void prefer_heap_to_mmap() {
  void* volatile block = std::malloc(kServedByHeap);
  std::free(block);
}

void settle_allocators() {
  PyGC_Collect();  // also empties the interpreter's lists of spare objects
  for (size_t size = kSizeStep; size <= kLargestSmallBlock; size += kSizeStep) {
    use_up_class(size, pool_size());
  }
  use_up_heap();
}

}  // namespace shim
