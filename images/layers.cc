#include "images/layers.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "images/archive/archive.h"
#include "images/json/oci.h"
#include "images/sha256.h"
#include "sandbox/sys/file.h"

namespace images {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

constexpr size_t kLongestDocument = size_t{16} << 20;  // bytes
constexpr int kDeepestIndex = 4;

// A regular file of the directory. Old archives of `docker save` hold a layer once and links to it;
// a link may lead to another place of the directory, but not out of it (openat2, Linux 5.6).
Result<OwnedFd> open_beneath(int directory, const std::string& path) {
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  OwnedFd file(static_cast<int>(::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how)));
  if (!file && errno == EXDEV) return Error::because(path + ": leads out of the image's directory");
  if (!file && errno == ENOENT) return Error::because(path + ": is missing");
  if (!file) return Error::from_errno("open " + path);
  struct stat info {};
  if (::fstat(file.get(), &info) < 0) return Error::from_errno("stat " + path);
  if (!S_ISREG(info.st_mode)) return Error::because(path + ": is no regular file");
  return file;
}

Result<std::string> document_in(int directory, const std::string& path) {
  const OwnedFd file = TRY(open_beneath(directory, path));
  auto text = sys::read_all(file.get(), kLongestDocument);
  if (!text && text.error().code() == EFBIG)
    return Error::because(path + ": is larger than " + std::to_string(kLongestDocument) + " bytes");
  if (!text) return std::move(text).error().context(path);
  return text;
}

bool is_file(int directory, const char* name) {
  struct stat info {};
  return ::fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode);
}

std::string text_of(const Platform& platform) { return platform.os + "/" + platform.architecture; }

// One import of layers: the directory they lie in, and where they go.
class Layers {
 public:
  Layers(int directory, TreeWriter& into, const Watch& watch)
      : directory_(directory), into_(into), watch_(watch) {}

  Result<ImageConfig> apply_layout();
  Result<ImageConfig> apply_saved();

 private:
  Result<OwnedFd> blob(const Descriptor& descriptor);
  Result<std::string> document(const Descriptor& descriptor);
  Result<Manifest> manifest_of(const Descriptor& chosen);
  Result<void> check_layer(int file, const std::string& path, const std::string& diff_id);

  int directory_;
  TreeWriter& into_;
  const Watch& watch_;
};

std::string path_of(const Descriptor& descriptor) {
  return "blobs/sha256/" + descriptor.digest.substr(descriptor.digest.find(':') + 1);
}

enum class Several : uint8_t { kTakeFirst, kRefuse };

// The image for this machine. Of several, which only the outermost index may not leave open, the
// first: variants of one architecture stand in the order of preference.
Result<Descriptor> choose(const std::vector<Descriptor>& all, const std::string& name,
                          Several several) {
  std::vector<Descriptor> fitting, unstated;
  std::string platforms, names;
  for (const Descriptor& each : all) {
    if (!each.platform) unstated.push_back(each);
    if (each.platform == host_platform()) fitting.push_back(each);
    if (each.platform) platforms += (platforms.empty() ? "" : ", ") + text_of(*each.platform);
  }
  if (fitting.empty()) fitting = unstated;
  if (fitting.empty()) {
    return Error::because(name + ": holds no image for " + text_of(host_platform()) +
                          (platforms.empty() ? "" : ", but for " + platforms));
  }
  for (const Descriptor& each : fitting) {
    if (several == Several::kTakeFirst || each.digest == fitting[0].digest) continue;
    for (const Descriptor& one : fitting)
      names += (names.empty() ? "" : ", ") + (one.name.empty() ? one.digest : one.name);
    return Error::because(name + ": holds several images (" + names +
                          "); copy the one that is wanted into a layout of its own");
  }
  return fitting[0];
}

Result<void> check_platform(const Platform& platform, const std::string& name) {
  const Platform host = host_platform();
  const bool fits = (platform.os.empty() || platform.os == host.os) &&
                    (platform.architecture.empty() || platform.architecture == host.architecture);
  if (fits) return {};
  return Error::because(name + ": the image is for " + text_of(platform) + ", this machine is " +
                        text_of(host));
}

Result<OwnedFd> Layers::blob(const Descriptor& descriptor) {
  const std::string path = path_of(descriptor);
  OwnedFd file = TRY(open_beneath(directory_, path));
  struct stat info {};
  if (::fstat(file.get(), &info) < 0) return Error::from_errno("stat " + path);
  if (static_cast<uint64_t>(info.st_size) != descriptor.size) {
    return Error::because(path + ": has " + std::to_string(info.st_size) + " bytes, not the " +
                          std::to_string(descriptor.size) + " that are announced");
  }
  const std::string digest = "sha256:" + TRY(sha256_of_file(file.get(), watch_));
  if (digest != descriptor.digest)
    return Error::because(path + ": is not what its name says: its digest is " + digest);
  return file;
}

Result<std::string> Layers::document(const Descriptor& descriptor) {
  const std::string path = path_of(descriptor);
  if (descriptor.size > kLongestDocument)
    return Error::because(path + ": is larger than " + std::to_string(kLongestDocument) + " bytes");
  const OwnedFd file = TRY(blob(descriptor));
  const std::string text = TRY(sys::read_all(file.get(), kLongestDocument));
  // The text that is parsed is the one that was digested, even if somebody writes to the file.
  if ("sha256:" + sha256_of(text) != descriptor.digest)
    return Error::because(path + ": changes while it is read");
  return text;
}

Result<Manifest> Layers::manifest_of(const Descriptor& outermost) {
  Descriptor chosen = outermost;
  for (int depth = 0; chosen.is_index(); ++depth) {
    const std::string path = path_of(chosen);
    if (depth == kDeepestIndex) return Error::because(path + ": indexes are nested too deeply");
    const std::string text = TRY(document(chosen));
    const auto inner = TRY(parse_index(text, path));
    chosen = TRY(choose(inner, path, Several::kTakeFirst));
  }
  const std::string text = TRY(document(chosen));
  return parse_manifest(text, path_of(chosen));
}

Result<ImageConfig> Layers::apply_layout() {
  const std::string text = TRY(document_in(directory_, "index.json"));
  const auto index = TRY(parse_index(text, "index.json"));
  const Descriptor chosen = TRY(choose(index, "index.json", Several::kRefuse));
  const Manifest manifest = TRY(manifest_of(chosen));
  const std::string name = path_of(manifest.config);
  if (manifest.config.media_type != "application/vnd.oci.image.config.v1+json" &&
      manifest.config.media_type != "application/vnd.docker.container.image.v1+json") {
    return Error::because(name + ": \"" + manifest.config.media_type +
                          "\" is not the configuration of an image");
  }
  const std::string settings = TRY(document(manifest.config));
  const ConfigFile config = TRY(parse_config(settings, name));
  TRY(check_platform(config.platform, name));
  for (const Descriptor& layer : manifest.layers) {
    const OwnedFd file = TRY(blob(layer));
    TRY(unpack_archive(file.get(), path_of(layer), Names::kWhiteouts, into_, watch_));
  }
  return config.config;
}

Result<void> Layers::check_layer(int file, const std::string& path, const std::string& diff_id) {
  const std::string digest =
      "sha256:" + TRY(sha256_of_content(file, path, into_.limits().total, watch_));
  if (digest == diff_id) return {};
  return Error::because(path + ": is not the layer of the image's configuration: its digest is " +
                        digest + ", not " + diff_id);
}

Result<ImageConfig> Layers::apply_saved() {
  const std::string list = TRY(document_in(directory_, "manifest.json"));
  const auto images = TRY(parse_saved(list, "manifest.json"));
  if (images.size() != 1) {
    std::string tags;
    for (const SavedImage& each : images)
      for (const std::string& tag : each.tags) tags += (tags.empty() ? "" : ", ") + tag;
    return Error::because("manifest.json: holds " + std::to_string(images.size()) + " images" +
                          (tags.empty() ? "" : " (" + tags + ")") + "; save one alone");
  }
  const SavedImage& image = images[0];
  const std::string text = TRY(document_in(directory_, image.config));
  // The file's name is its digest: "HEX.json", or "blobs/sha256/HEX".
  std::string named = image.config.substr(image.config.rfind('/') + 1);
  if (named.ends_with(".json")) named.resize(named.size() - 5);
  if (const std::string digest = sha256_of(text); is_sha256("sha256:" + named) && named != digest)
    return Error::because(image.config + ": is not what its name says: its digest is " + digest);
  const ConfigFile config = TRY(parse_config(text, image.config));
  TRY(check_platform(config.platform, image.config));
  if (config.diff_ids.size() != image.layers.size()) {
    return Error::because(image.config + ": rootfs.diff_ids: has " +
                          std::to_string(config.diff_ids.size()) + " layers, manifest.json has " +
                          std::to_string(image.layers.size()));
  }
  for (size_t i = 0; i < image.layers.size(); ++i) {
    const OwnedFd file = TRY(open_beneath(directory_, image.layers[i]));
    TRY(check_layer(file.get(), image.layers[i], config.diff_ids[i]));
    TRY(unpack_archive(file.get(), image.layers[i], Names::kWhiteouts, into_, watch_));
  }
  return config.config;
}

}  // namespace

Result<SourceKind> kind_of(int directory) {
  if (is_file(directory, "oci-layout") && is_file(directory, "index.json"))
    return SourceKind::kLayout;
  if (!is_file(directory, "manifest.json")) return SourceKind::kTree;
  auto text = document_in(directory, "manifest.json");
  return text && looks_saved(*text) ? SourceKind::kSaved : SourceKind::kTree;
}

Result<ImageConfig> apply_layers(SourceKind kind, int directory, const std::string& label,
                                 TreeWriter& into, const Watch& watch) {
  VERIFY(kind != SourceKind::kTree);
  Layers layers(directory, into, watch);
  auto config = kind == SourceKind::kLayout ? layers.apply_layout() : layers.apply_saved();
  if (!config) return std::move(config).error().context(label);
  return config;
}

}  // namespace images
