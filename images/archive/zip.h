#pragma once
// Untrusted zip archives in memory, read by libarchive from their beginning to their end, once: the
// directory at their end, which has modes and links, is not looked at, so that an archive takes
// time in proportion to its size and to that of its files. What is damaged, encrypted, or packed in
// another way than stored or deflated gives an error that names the member.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace images {

struct ZipMember {
  std::string path;  // as it is written there, without "./" and "//"; it may lead elsewhere
  std::string content;
};

struct ZipLimits {
  sys::Bytes bytes;    // of all contents and names
  size_t members = 0;  // directories and files that come twice, too
  // Asked before so many bytes more are held; false: there is no room for them. Empty: there is.
  std::function<bool(size_t bytes)> room = {};
};

// In the archive's order; of two with one name the first, as `unzip -n` leaves them.
sys::Result<std::vector<ZipMember>> read_zip(std::string_view archive, const ZipLimits& limits);

}  // namespace images
