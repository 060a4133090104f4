#pragma once
// Settling the allocators: a job's write set begins with the pages of the free memory that it is
// given first. Memory that an interpreter freed while it imported lies scattered over all its heap,
// so before the image is taken all of it is put out of use; every job then begins on fresh memory,
// where its allocations lie side by side.

namespace shim {

// Before the first import: lets malloc serve blocks of up to a few MiB from its heap instead of by
// mmap. A block that mmap serves cannot be part of the image.
void prefer_heap_to_mmap();

// Called in the template as its last use of the allocators, with the GIL held. Takes address space
// and pages of the image that are never freed, not memory of a job.
void settle_allocators();

}  // namespace shim
