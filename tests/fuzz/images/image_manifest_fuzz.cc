// The documents of an image: index, manifest, configuration, manifest.json of `docker save`, and
// the store's own, and what a packed environment says of itself. The first byte says which. What
// parses holds only what the rest of images/ may rely on; what does not is named.

#include <string>

#include "images/json/oci.h"
#include "images/json/record.h"
#include "images/sha256.h"
#include "sandbox/sys/result.h"
#include "tests/fuzz/input.h"

namespace {

void check_error(const sys::Error& error) {
  VERIFY(error.text().starts_with("doc: ") && error.code() == 0);
}

void check_descriptor(const images::Descriptor& descriptor) {
  VERIFY(images::is_sha256(descriptor.digest));
  VERIFY(descriptor.name.find('\0') == std::string::npos);
}

void check_index(std::string_view text) {
  const auto index = images::parse_index(text, "doc");
  if (!index) return check_error(index.error());
  for (const images::Descriptor& each : *index) check_descriptor(each);
}

void check_manifest(std::string_view text) {
  const auto manifest = images::parse_manifest(text, "doc");
  if (!manifest) return check_error(manifest.error());
  check_descriptor(manifest->config);
  for (const images::Descriptor& each : manifest->layers) check_descriptor(each);
}

void check_config(std::string_view text) {
  const auto file = images::parse_config(text, "doc");
  if (!file) return check_error(file.error());
  for (const std::string& each : file->diff_ids) VERIFY(images::is_sha256(each));
  for (const std::string& each : file->config.environment) VERIFY(each.find('=') > 0);
  const images::ContentRecord record{file->config, 1, 2};
  const auto again = images::parse_content(images::to_json(record), "doc");
  VERIFY(again && *again == record);
}

void check_saved(std::string_view text) {
  const auto saved = images::parse_saved(text, "doc");
  if (!saved) return check_error(saved.error());
  for (const images::SavedImage& each : *saved)
    for (const std::string& layer : each.layers) VERIFY(layer.find('\0') == std::string::npos);
}

void check_records(std::string_view text) {
  const auto name = images::parse_name(text, "doc");
  if (name) {
    const auto again = images::parse_name(images::to_json(*name), "doc");
    VERIFY(again && *again == *name);
  }
  const auto content = images::parse_content(text, "doc");
  if (!content) check_error(content.error());
}

bool is_plain(const std::string& path) {
  return path.starts_with('/') && path.find('\0') == std::string::npos &&
         (path + "/").find("/../") == std::string::npos;
}

void check_pack(std::string_view text) {
  const auto pack = images::parse_pack(text, "doc");
  if (!pack) return check_error(pack.error());
  const images::PythonEnvironment& python = *pack->config.python;
  VERIFY(images::is_sha256(pack->digest) && is_plain(python.interpreter));
  VERIFY(!python.directories.empty());
  for (const auto& [target, place] : python.directories)
    VERIFY(is_plain(target) && is_plain(place));
  const auto again = images::parse_pack(images::to_json(*pack), "doc");
  VERIFY(again && *again == *pack);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const uint8_t kind = input.byte();
  const std::string_view text = input.rest();
  switch (kind % 6) {
    case 0:
      check_index(text);
      break;
    case 1:
      check_manifest(text);
      break;
    case 2:
      check_config(text);
      break;
    case 3:
      static_cast<void>(images::looks_saved(text));
      check_saved(text);
      break;
    case 4:
      check_records(text);
      break;
    default:
      check_pack(text);
  }
  return 0;
}
