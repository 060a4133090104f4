#pragma once
// Emptying a directory that a job has filled: by descriptors, never following a link, never leaving
// the file system, without allocation. Used by a cell on its scratch, and by the daemon on scratch
// directories where there is no tmpfs to drop.

#include <cstdint>

namespace sandbox {

// Contents of a directory, itself not counted. A file with several names occupies its bytes once.
struct Contents {
  uint64_t bytes = 0;  // occupied, not apparent
  uint64_t entries = 0;
};

// Empties it, and says what was in it. The caller has made sure that no process of the job is left.
// Best effort: the caller proves the result with is_empty() or statfs.
Contents wipe_directory(int directory);

bool is_empty(int directory);

}  // namespace sandbox
