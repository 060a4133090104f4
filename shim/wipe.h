#pragma once
// Empties a directory by descriptors: never follows a link, never leaves the file system, allocates
// nothing. The caller has made sure that no process of the job is left.

namespace shim {

// Best effort; the caller proves the result with statfs.
void wipe_directory(int directory);

}  // namespace shim
