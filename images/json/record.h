#pragma once
// The store's own files, as JSON: the import (config.json beside the root file system) and the
// digest of a name (names/NAME.json). Pure. A wrong field is named in the error.

#include <cstdint>
#include <string>
#include <string_view>

#include "images/config.h"
#include "sandbox/sys/result.h"

namespace images {

struct ContentRecord {
  ImageConfig config;
  uint64_t bytes = 0, entries = 0;  // of the root file system
  bool operator==(const ContentRecord&) const = default;
};
std::string to_json(const ContentRecord& record);
sys::Result<ContentRecord> parse_content(std::string_view text, std::string_view name);

// The configuration alone, always in the same words: it is part of an image's digest.
std::string to_json(const ImageConfig& config);

// The description of a packed environment, in the first member of its archive.
struct PackRecord {
  std::string digest;  // of the image that it becomes
  ImageConfig config;  // with an environment
  bool operator==(const PackRecord&) const = default;
};
std::string to_json(const PackRecord& record);
sys::Result<PackRecord> parse_pack(std::string_view text, std::string_view name);

struct NameRecord {
  std::string digest;    // "sha256:..."
  std::string source;    // the path it was imported from
  std::string imported;  // "2026-01-31T12:00:00Z"
  bool operator==(const NameRecord&) const = default;
};
std::string to_json(const NameRecord& record);
sys::Result<NameRecord> parse_name(std::string_view text, std::string_view name);

}  // namespace images
