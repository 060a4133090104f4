#pragma once
// The documents of an OCI image layout and of `docker save`, as plain values: index, manifest,
// configuration, manifest.json. Untrusted: every wrong field is named in the error. Pure.
// https://github.com/opencontainers/image-spec

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "images/config.h"
#include "sandbox/sys/result.h"

namespace images {

// The machine that an image is for, in Go's terms: "linux", "amd64".
struct Platform {
  std::string os, architecture;
  bool operator==(const Platform&) const = default;
};
Platform host_platform();

// Descriptor of a blob.
struct Descriptor {
  std::string media_type, digest;  // the digest is "sha256:" and 64 hexadecimal digits
  uint64_t size = 0;               // bytes
  std::optional<Platform> platform;
  std::string name;  // a tag, where the index gives one
  bool is_index() const;
};
sys::Result<std::vector<Descriptor>> parse_index(std::string_view text, std::string_view name);

struct Manifest {
  Descriptor config;
  std::vector<Descriptor> layers;  // the lowest first
};
sys::Result<Manifest> parse_manifest(std::string_view text, std::string_view name);

struct ConfigFile {
  Platform platform;
  std::vector<std::string> diff_ids;  // digests of the layers, uncompressed, the lowest first
  ImageConfig config;
};
sys::Result<ConfigFile> parse_config(std::string_view text, std::string_view name);

// One image of a `docker save` archive; paths are relative to the archive's root.
struct SavedImage {
  std::string config;
  std::vector<std::string> tags, layers;
};
sys::Result<std::vector<SavedImage>> parse_saved(std::string_view text, std::string_view name);

// Whether the document is a manifest.json of `docker save`, and no other file of that name.
bool looks_saved(std::string_view text);

}  // namespace images
