#pragma once
// Prepares a template for its forks: the heap image, and the pages that trial jobs write to.

#include "shim/heap/image.h"

namespace shim {

// plain, moved, merged or huge; anything else is plain.
HeapMode heap_mode_named(const char* word);

// Moves the memory and runs the trials. The plain heap stays when the image cannot be made.
void warm_image(HeapMode mode);

}  // namespace shim
