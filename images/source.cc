#include "images/source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/archive/archive.h"
#include "images/json/record.h"
#include "images/layers.h"
#include "images/pack.h"
#include "images/tree/copy_tree.h"
#include "images/tree/remove_tree.h"
#include "sandbox/sys/file.h"

namespace images {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

constexpr const char* kArchive = "archive";  // in the workspace: an unpacked archive of layers

Result<Unpacked> layers_of(SourceKind kind, int directory, const std::string& path, int workspace,
                           const TreeLimits& limits, const Watch& watch) {
  TreeWriter writer = TRY(make_rootfs(workspace, limits));
  ImageConfig config = TRY(apply_layers(kind, directory, path, writer, watch));
  return Unpacked{std::move(config), "", writer.tally()};
}

Result<Unpacked> unpack_directory(int directory, const std::string& path, int workspace,
                                  const TreeLimits& limits, const Watch& watch) {
  const SourceKind kind = TRY(kind_of(directory));
  if (kind != SourceKind::kTree) return layers_of(kind, directory, path, workspace, limits, watch);
  TreeWriter writer = TRY(make_rootfs(workspace, limits));
  TRY(copy_tree(directory, path, writer, watch));
  return Unpacked{{}, "", writer.tally()};
}

// A packed environment says what it is in a file that is no part of it.
Result<Unpacked> tree_of(const TreeWriter& writer, const std::string& path) {
  auto file = sys::open_at(writer.root(), kPackRecord, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file) return Unpacked{{}, "", writer.tally()};
  auto text = sys::read_all(file->get(), kLongestPackRecord);
  if (!text) return std::move(text).error().context(path + ": " + kPackRecord);
  auto record = parse_pack(*text, kPackRecord);
  if (!record) return std::move(record).error().context(path);
  if (::unlinkat(writer.root(), kPackRecord, 0) < 0) return Error::from_errno(kPackRecord);
  return Unpacked{std::move(record->config), std::move(record->digest), writer.tally()};
}

// Which kind of archive it is shows when it is unpacked: one of layers is moved aside, and its
// layers applied from there.
Result<Unpacked> unpack_file(int file, const std::string& path, int workspace,
                             const TreeLimits& limits, const Watch& watch) {
  TreeWriter writer = TRY(make_rootfs(workspace, limits));
  TRY(unpack_archive(file, path, Names::kPlain, writer, watch));
  const SourceKind kind = TRY(kind_of(writer.root()));
  if (kind == SourceKind::kTree) return tree_of(writer, path);
  if (::renameat(workspace, kRootfs, workspace, kArchive) < 0)
    return Error::from_errno("rename rootfs");
  Unpacked unpacked = TRY(layers_of(kind, writer.root(), path, workspace, limits, watch));
  TRY(remove_tree(workspace, kArchive));
  return unpacked;
}

}  // namespace

Result<TreeWriter> make_rootfs(int workspace, const TreeLimits& limits) {
  if (::mkdirat(workspace, kRootfs, 0755) < 0) return Error::from_errno("mkdir rootfs");
  if (::fchmodat(workspace, kRootfs, 0755, 0) < 0) return Error::from_errno("chmod rootfs");
  return TreeWriter(TRY(sys::open_at(workspace, kRootfs, O_RDONLY | O_DIRECTORY)), limits);
}

Result<Unpacked> unpack_source(const std::string& path, int workspace, const TreeLimits& limits,
                               const Watch& watch) {
  // Without waiting for the writer of a fifo.
  const OwnedFd source = TRY(sys::open(path, O_RDONLY | O_NONBLOCK));
  struct stat info {};
  if (::fstat(source.get(), &info) < 0) return Error::from_errno("stat " + path);
  if (!S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode))
    return Error::because(path + ": is neither a file nor a directory");
  Unpacked unpacked = S_ISDIR(info.st_mode)
                          ? TRY(unpack_directory(source.get(), path, workspace, limits, watch))
                          : TRY(unpack_file(source.get(), path, workspace, limits, watch));
  if (unpacked.tally.entries == unpacked.tally.skipped)
    return Error::because(path + ": holds no files");
  return unpacked;
}

}  // namespace images
