#include "images/pack.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>

#include "images/archive/reader.h"
#include "images/archive/writer.h"
#include "images/host_image.h"
#include "images/json/record.h"
#include "images/source.h"
#include "images/store_files.h"
#include "images/tree/copy_tree.h"
#include "images/tree/tree_digest.h"
#include "sandbox/sys/file.h"

namespace images {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

constexpr std::string_view kZstd = "\x28\xb5\x2f\xfd";
constexpr size_t kShortDigest = 16;  // digits

// The places that must be copied: those that lie in another come along.
std::set<std::string> places_of(const PythonEnvironment& python) {
  std::set<std::string> all, places;
  for (const auto& entry : python.directories) all.insert(entry.second);
  for (const std::string& place : all) {  // sorted: what holds others comes before them
    if (std::none_of(places.begin(), places.end(),
                     [&place](const std::string& other) { return beneath(place, other); }))
      places.insert(place);
  }
  return places;
}

// On `output` only when it is complete.
Result<uint64_t> write_output(int rootfs, const FirstMember& first, const std::string& output,
                              uint64_t total, const Watch& watch) {
  uint64_t chance = 0;  // in containers, every call has the same pid
  VERIFY(::getrandom(&chance, sizeof chance, 0) == sizeof chance);
  const std::string unfinished = output + ".unfinished-" + std::to_string(chance);
  const OwnedFd file = TRY(sys::open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644));
  auto write_it = [&]() -> Result<uint64_t> {
    auto written = write_archive(rootfs, first, file.get(), total, watch);
    if (!written) return std::move(written).error().context(output);
    struct stat info {};
    if (::fsync(file.get()) < 0 || ::fstat(file.get(), &info) < 0 ||
        ::rename(unfinished.c_str(), output.c_str()) < 0)
      return Error::from_errno("write " + output);
    return static_cast<uint64_t>(info.st_size);
  };
  auto bytes = write_it();
  if (!bytes) ::unlink(unfinished.c_str());
  return bytes;
}

Result<std::string> first_member(int file, const Watch& watch) {
  ArchiveReader reader(file, watch, "reading");
  TRY(reader.open(ArchiveReader::Content::kTar));
  archive_entry* entry = TRY(reader.next());
  const char* name = entry ? archive_entry_pathname(entry) : nullptr;
  if (!name || std::string_view(name) != kPackRecord)
    return Error::because("is no packed environment (zygo image pack makes them)");
  std::string text;
  for (;;) {
    const ArchiveReader::Piece piece = TRY(reader.data());
    if (piece.end) return text;
    text += piece.bytes;
    if (text.size() > kLongestPackRecord)
      return Error::because(std::string(kPackRecord) + ": is longer than " +
                            std::to_string(kLongestPackRecord) + " bytes");
  }
}

Result<PackRecord> record_of(const std::string& path, const Watch& watch) {
  const OwnedFd file = TRY(sys::open(path, O_RDONLY | O_NONBLOCK));
  auto text = first_member(file.get(), watch);
  if (!text) return std::move(text).error().context(path);
  auto record = parse_pack(*text, kPackRecord);
  if (!record) return std::move(record).error().context(path);
  return record;
}

}  // namespace

Result<Packed> pack_environment(const std::string& root, const PythonEnvironment& python,
                                const std::string& output, const Watch& watch,
                                const TreeLimits& limits) {
  auto begin = [&root]() -> Result<Workspace> {
    const LockedStore store = TRY(lock_store(root));
    TRY(sweep(store));
    return Workspace::create(store);
  };
  const Workspace workspace = TRY(begin());
  TreeWriter writer = TRY(make_rootfs(workspace.fd(), limits));
  for (const std::string& place : places_of(python)) {
    const OwnedFd directory = TRY(sys::open(place, O_RDONLY | O_DIRECTORY));
    const std::string below = TRY(writer.path_of(place.substr(1)));
    TRY(copy_tree(directory.get(), place, writer, watch, below));
  }
  ImageConfig config;
  config.python = python;
  const TreeFacts tree = TRY(look_through(writer.root(), writer.tally().bytes, watch));
  Packed packed{digest_of_image(tree, config), python, tree.bytes, tree.entries};
  const std::string record = to_json(PackRecord{packed.digest, config});
  packed.archive_bytes =
      TRY(write_output(writer.root(), {kPackRecord, record}, output, tree.bytes, watch));
  return packed;
}

bool looks_packed(const std::string& path) {
  auto file = sys::open(path, O_RDONLY | O_NONBLOCK);
  char bytes[kZstd.size()];
  return file && ::pread(file->get(), bytes, sizeof bytes, 0) == sizeof bytes &&
         std::string_view(bytes, sizeof bytes) == kZstd;
}

Result<Image> obtain_environment(const std::string& root, const std::string& path,
                                 const Watch& watch) {
  const PackRecord record = TRY(record_of(path, watch));
  TRY(check_needs(*record.config.python));
  const std::string hex = record.digest.substr(record.digest.find(':') + 1, kShortDigest);
  const std::string name = "environment-" + hex;
  Store store(root);
  auto known = [&]() -> std::optional<Image> {
    auto image = store.find(name);
    if (!image || image->digest != record.digest) return std::nullopt;
    return *std::move(image);
  };
  if (auto image = known()) return *std::move(image);
  TRY(lock_store(root));  // makes it, and lets go at once
  const std::string lock = root + "/unpacking-" + hex + ".lock";
  const OwnedFd held = TRY(lock_file(lock));
  auto unpack = [&]() -> Result<Image> {
    if (auto image = known()) return *std::move(image);  // by who held it before
    return TRY(store.import(name, path, watch)).image;
  };
  auto image = unpack();
  ::unlink(lock.c_str());  // by each: who comes late makes it anew
  return image;
}

}  // namespace images
