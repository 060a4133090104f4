#include "images/json/oci.h"

#include <algorithm>
#include <array>

#include "images/json/fields.h"
#include "images/sha256.h"

namespace images {

using sys::Error;
using sys::Result;

namespace {

constexpr size_t kMostLayers = 512;  // Docker stops at 127
constexpr std::array<std::string_view, 2> kIndexTypes = {
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json"};
constexpr std::array<std::string_view, 8> kLayerTypes = {
    "application/vnd.oci.image.layer.v1.tar",
    "application/vnd.oci.image.layer.v1.tar+gzip",
    "application/vnd.oci.image.layer.v1.tar+zstd",
    "application/vnd.oci.image.layer.nondistributable.v1.tar",
    "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip",
    "application/vnd.oci.image.layer.nondistributable.v1.tar+zstd",
    "application/vnd.docker.image.rootfs.diff.tar",
    "application/vnd.docker.image.rootfs.diff.tar.gzip"};

template <size_t N>
bool one_of(std::string_view text, const std::array<std::string_view, N>& known) {
  return std::find(known.begin(), known.end(), text) != known.end();
}

Result<std::string> digest_of(const Field& field) {
  std::string digest = TRY(field.text());
  if (!is_sha256(digest))
    return field.wrong("must be \"sha256:\" and 64 lower-case hexadecimal digits");
  return digest;
}

Result<Descriptor> descriptor_of(const Field& field) {
  Descriptor found;
  found.media_type = TRY(field.member("mediaType").text_or(""));
  found.digest = TRY(digest_of(field.member("digest")));
  found.size = TRY(field.member("size").number());
  if (const Field platform = field.member("platform"); platform.there()) {
    found.platform =
        Platform{TRY(platform.member("os").text()), TRY(platform.member("architecture").text())};
  }
  if (const Field notes = field.member("annotations"); notes.there())
    found.name = TRY(notes.member("org.opencontainers.image.ref.name").text_or(""));
  return found;
}

Result<void> check_schema(const Field& document) {
  const Field version = document.member("schemaVersion");
  const uint64_t number = TRY(version.number());
  if (number != 2) return version.wrong("must be 2");
  return {};
}

Result<ImageConfig> image_config_of(const Field& field) {
  ImageConfig config;
  if (!field.there()) return config;
  const Field environment = field.member("Env");
  for (const Field& each : TRY(environment.elements())) {
    std::string variable = TRY(each.text());
    const size_t equals = variable.find('=');
    if (equals == std::string::npos || equals == 0) return each.wrong("must be NAME=value");
    config.environment.push_back(std::move(variable));
  }
  const Field directory = field.member("WorkingDir");
  config.working_directory = TRY(directory.text_or(""));
  if (!config.working_directory.empty() && config.working_directory[0] != '/')
    return directory.wrong("must be an absolute path");
  config.user = TRY(field.member("User").text_or(""));
  config.entrypoint = TRY(field.member("Entrypoint").texts());
  config.command = TRY(field.member("Cmd").texts());
  return config;
}

}  // namespace

Platform host_platform() {
#if defined(__x86_64__)
  return {"linux", "amd64"};
#elif defined(__aarch64__)
  return {"linux", "arm64"};
#else
#error "name this machine as Go does"
#endif
}

bool Descriptor::is_index() const { return one_of(media_type, kIndexTypes); }

Result<std::vector<Descriptor>> parse_index(std::string_view text, std::string_view name) {
  const nlohmann::json json = TRY(parse_document(text, name));
  const Field document(&json, std::string(name));
  TRY(check_schema(document));
  const Field manifests = document.member("manifests");
  if (!manifests.there()) return manifests.wrong("is missing");
  std::vector<Descriptor> all;
  for (const Field& each : TRY(manifests.elements())) all.push_back(TRY(descriptor_of(each)));
  return all;
}

Result<Manifest> parse_manifest(std::string_view text, std::string_view name) {
  const nlohmann::json json = TRY(parse_document(text, name));
  const Field document(&json, std::string(name));
  TRY(check_schema(document));
  Manifest manifest;
  manifest.config = TRY(descriptor_of(document.member("config")));
  const Field layers = document.member("layers");
  if (!layers.there()) return layers.wrong("is missing");
  for (const Field& each : TRY(layers.elements())) {
    Descriptor layer = TRY(descriptor_of(each));
    if (!one_of(layer.media_type, kLayerTypes)) {
      return each.member("mediaType")
          .wrong("\"" + layer.media_type + "\" is not a layer that zygo can read");
    }
    manifest.layers.push_back(std::move(layer));
  }
  if (manifest.layers.size() > kMostLayers)
    return layers.wrong("has more than " + std::to_string(kMostLayers) + " layers");
  return manifest;
}

Result<ConfigFile> parse_config(std::string_view text, std::string_view name) {
  const nlohmann::json json = TRY(parse_document(text, name));
  const Field document(&json, std::string(name));
  ConfigFile file;
  file.platform.os = TRY(document.member("os").text_or(""));
  file.platform.architecture = TRY(document.member("architecture").text_or(""));
  file.config = TRY(image_config_of(document.member("config")));
  const Field rootfs = document.member("rootfs");
  if (!rootfs.there()) return file;
  for (const Field& each : TRY(rootfs.member("diff_ids").elements()))
    file.diff_ids.push_back(TRY(digest_of(each)));
  return file;
}

Result<std::vector<SavedImage>> parse_saved(std::string_view text, std::string_view name) {
  const nlohmann::json json = TRY(parse_document(text, name));
  const Field document(&json, std::string(name));
  std::vector<SavedImage> all;
  for (const Field& each : TRY(document.elements())) {
    SavedImage image;
    image.config = TRY(each.member("Config").text());
    image.tags = TRY(each.member("RepoTags").texts());
    const Field layers = each.member("Layers");
    if (!layers.there()) return layers.wrong("is missing");
    image.layers = TRY(layers.texts());
    if (image.layers.size() > kMostLayers)
      return layers.wrong("has more than " + std::to_string(kMostLayers) + " layers");
    all.push_back(std::move(image));
  }
  return all;
}

bool looks_saved(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  return json.is_array() && !json.empty() && json[0].is_object() && json[0].contains("Layers") &&
         json[0].contains("Config");
}

}  // namespace images
