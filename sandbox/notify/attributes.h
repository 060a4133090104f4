#pragma once
// Calls that change a file's metadata (mode, owner, times, attributes) or lock it. Landlock does
// not stop them, and a descriptor that was opened for reading is enough for most. Where the image
// is mounted read-only the kernel does; where it is not (FilterVariant::shared_files), this
// decides, and "go on" would be unsafe: between the look and the kernel's own another thread could
// exchange descriptor or path. So an allowed change is made here, on the very file that was
// inspected, and the call gets the outcome. Daemon side.

#include "sandbox/notify/notify.h"

namespace sandbox {

// Tells whether the call is one of these, in a cell where this decides.
bool changes_attributes(const CellView& cell, const Notice& notice);

// Rules on such a call. It takes as long as the file system does, so it never runs on a loop.
// Outside of scratch the call is refused and named, except a lock: that is answered as if it was
// taken, because nothing else of the job could hold it.
Ruling rule_on_attributes(const CellView& cell, const Notice& notice);

}  // namespace sandbox
