#pragma once
// Counts the jobs of a file, so that progress can have a share and an ETA.

#include <cstddef>
#include <optional>

namespace cli {

// Lines that are not blank, from the current offset to the end; the offset stays. Nothing for a
// pipe, and for a file so large that reading it twice would hurt.
std::optional<size_t> count_lines(int fd);

}  // namespace cli
