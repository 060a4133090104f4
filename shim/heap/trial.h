#pragma once
// Prepares a template for its forks: the heap image, and the pages that trial jobs write to.

#include "shim/heap/image.h"

namespace shim {

// Moves the memory and runs the trials. The plain heap stays when the image cannot be made.
void warm_image(HeapMode mode);

}  // namespace shim
