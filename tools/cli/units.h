#pragma once
// Sizes and durations as people write them on a command line, and back. Pure.
// Sizes are binary: 1 K is 1024 bytes. A bare size is bytes, a bare duration is seconds.

#include <string>
#include <string_view>

#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace cli {

// "64K", "256M", "1.5G", "64kb", "4096". The error is a sentence about `text`, without a subject:
// `"lots" is not a size; write e.g. 256M or 1G`.
sys::Result<sys::Bytes> parse_size(std::string_view text);

// "250ms", "2s", "1.5", "1m". Anything that rounds to less than a millisecond is refused.
sys::Result<sys::Milliseconds> parse_duration(std::string_view text);

// "512 MiB", "1.5 GiB", "17 bytes".
std::string format_size(uint64_t bytes);

}  // namespace cli
