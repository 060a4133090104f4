#pragma once
// Making a template ready for its forks: the heap image, and the pages that trial jobs write to.

#include "shim/heap/image.h"

namespace shim {

// From the environment variable ZYGO_HEAP of the template process: plain, moved, merged or huge.
HeapMode wanted_heap_mode();

// Moves the memory and runs the trials. The plain heap stays when the image cannot be made.
void warm_image(HeapMode mode);

}  // namespace shim
