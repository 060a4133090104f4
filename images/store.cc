#include "images/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>

#include "images/source.h"
#include "images/store_files.h"
#include "images/tree/tree_digest.h"
#include "sandbox/sys/file.h"
#include "sandbox/sys/utc.h"

namespace images {

using sys::Error;
using sys::Result;

namespace {

constexpr const char* kConfigFile = "config.json";
constexpr size_t kLongestName = 128;
constexpr std::string_view kInNames = "._:+-";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

Error unknown(const std::string& name) {
  return Error::because("no image is named \"" + name +
                        "\"; `zygo image list` shows those there are");
}

std::string real_path_of(const std::string& path) {
  char resolved[PATH_MAX];
  return ::realpath(path.c_str(), resolved) ? resolved : path;
}

// A workspace becomes a content by its digest, its record, and all of it being on the disk.
struct Sealed {
  std::string digest;
  ContentRecord record;
};
Result<Sealed> seal(const Workspace& workspace, const Unpacked& unpacked, const Watch& watch) {
  const sys::OwnedFd rootfs =
      TRY(sys::open_at(workspace.fd(), kRootfs, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  const TreeFacts tree = TRY(look_through(rootfs.get(), unpacked.tally.bytes, watch));
  const std::string digest = digest_of_image(tree, unpacked.config);
  if (!unpacked.digest.empty() && unpacked.digest != digest)
    return Error::because("it is not what it says of itself: its digest is " + digest + ", not " +
                          unpacked.digest);
  const ContentRecord record{unpacked.config, tree.bytes, tree.entries};
  TRY(write_durably(workspace.fd(), kConfigFile, to_json(record)));
  if (::fchmod(workspace.fd(), 0755) < 0) return Error::from_errno("chmod " + workspace.name());
  if (::syncfs(workspace.fd()) < 0) return Error::from_errno("sync " + workspace.name());
  return Sealed{digest, record};
}

}  // namespace

Result<std::string> Store::default_root() {
  if (const std::string home = variable("ZYGO_HOME"); !home.empty()) {
    if (home[0] != '/')
      return Error::because("ZYGO_HOME: \"" + home + "\" is not an absolute path");
    return home;
  }
  if (::geteuid() == 0) return std::string("/var/lib/zygo");
  if (const std::string data = variable("XDG_DATA_HOME"); !data.empty() && data[0] == '/')
    return data + "/zygo";
  const std::string home = variable("HOME");
  if (home.empty() || home[0] != '/') {
    return Error::because("where are images kept? Neither ZYGO_HOME nor HOME is an absolute path");
  }
  return home + "/.local/share/zygo";
}

Result<void> Store::check_name(std::string_view name) {
  const bool fine = !name.empty() && name.size() <= kLongestName && is_letter_or_digit(name[0]) &&
                    std::all_of(name.begin(), name.end(), [](char c) {
                      return is_letter_or_digit(c) || kInNames.find(c) != std::string_view::npos;
                    });
  if (fine) return {};
  return Error::because("\"" + std::string(name) +
                        "\" is not a name for an image; write 1 to 128 letters, digits and ._:+-, "
                        "the first a letter or a digit");
}

Image Store::described(const std::string& name, const std::string& digest) const {
  Image image;
  image.name = name;
  image.digest = digest;
  image.rootfs = root_ + "/images/" + content_directory(digest) + "/" + kRootfs;
  return image;
}

Result<Imported> Store::import(const std::string& name, const std::string& path, const Watch& watch,
                               const TreeLimits& limits) {
  TRY(check_name(name));
  if (::access(path.c_str(), R_OK) < 0) return Error::from_errno(path);
  auto begin = [this]() -> Result<Workspace> {
    const LockedStore store = TRY(lock_store(root_));
    TRY(sweep(store));
    return Workspace::create(store);
  };
  const Workspace workspace = TRY(begin());
  const Unpacked unpacked = TRY(unpack_source(path, workspace.fd(), limits, watch));
  Imported imported;
  auto seal_it = [&]() -> Result<Sealed> {
    auto sealed = seal(workspace, unpacked, watch);
    if (!sealed && sealed.error().code() == 0) return std::move(sealed).error().context(path);
    return sealed;
  };
  const Sealed sealed = TRY(seal_it());
  imported.image = described(name, sealed.digest);
  imported.image.source = real_path_of(path);
  imported.image.imported = sys::utc_text(sys::time_since_1970(), sys::Fraction::kNone);
  imported.image.config = sealed.record.config;
  imported.image.bytes = sealed.record.bytes;
  imported.image.entries = sealed.record.entries;
  imported.skipped = unpacked.tally.skipped;
  imported.stored_before = ::access(imported.image.rootfs.c_str(), F_OK) == 0;
  TRY(publish(workspace.name(), imported.image));
  return imported;
}

Result<void> Store::publish(const std::string& workspace, const Image& image) {
  const LockedStore store = TRY(lock_store(root_));
  const std::string content = content_directory(image.digest);
  if (::faccessat(store.images.get(), content.c_str(), F_OK, 0) < 0) {
    if (::renameat(store.images.get(), workspace.c_str(), store.images.get(), content.c_str()) < 0)
      return Error::from_errno("rename " + workspace);
    TRY(sync_directory(store.images.get()));
  }
  const NameRecord record{image.digest, image.source, image.imported};
  TRY(write_durably(store.names.get(), name_file(image.name), to_json(record)));
  return sweep(store);  // of what the name stood for before
}

Result<Image> Store::find(const std::string& name) const {
  TRY(check_name(name));
  auto names = sys::open(root_ + "/names", O_RDONLY | O_DIRECTORY);
  if (!names && names.error().code() == ENOENT) return unknown(name);
  if (!names) return std::move(names).error();
  auto record = read_name(names->get(), name);
  if (!record && record.error().code() == ENOENT) return unknown(name);
  if (!record) return std::move(record).error().context(root_);
  Image image = described(name, record->digest);
  image.source = record->source;
  image.imported = record->imported;
  const std::string place =
      root_ + "/images/" + content_directory(record->digest) + "/" + kConfigFile;
  auto text = sys::read_file(place);
  if (!text) return std::move(text).error().context("image " + name);
  const ContentRecord content = TRY(parse_content(*text, place));
  image.config = content.config;
  image.bytes = content.bytes;
  image.entries = content.entries;
  return image;
}

Result<std::vector<Image>> Store::list() const {
  std::vector<Image> all;
  auto names = sys::open(root_ + "/names", O_RDONLY | O_DIRECTORY);
  if (!names && names.error().code() == ENOENT) return all;
  if (!names) return std::move(names).error();
  for (const std::string& name : TRY(names_of(names->get()))) {
    auto image = find(name);
    if (image) {
      all.push_back(std::move(image).value());
      continue;
    }
    // Removed since the directory was read?
    if (::faccessat(names->get(), name_file(name).c_str(), F_OK, 0) == 0)
      return std::move(image).error();
  }
  return all;
}

Result<void> Store::remove(const std::string& name) {
  TRY(check_name(name));
  const auto store = TRY(lock_existing(root_));
  if (!store) return unknown(name);
  if (::unlinkat(store->names.get(), name_file(name).c_str(), 0) < 0) {
    if (errno == ENOENT) return unknown(name);
    return Error::from_errno("remove " + root_ + "/names/" + name_file(name));
  }
  TRY(sync_directory(store->names.get()));
  return sweep(*store);
}

}  // namespace images
