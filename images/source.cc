#include "images/source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/archive.h"
#include "images/copy_tree.h"
#include "images/layers.h"
#include "images/remove_tree.h"
#include "sandbox/sys/file.h"

namespace images {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

constexpr const char* kArchive = "archive";  // in the workspace: an unpacked archive of layers

Result<TreeWriter> writer_of(int workspace, const TreeLimits& limits) {
  if (::mkdirat(workspace, kRootfs, 0755) < 0) return Error::from_errno("mkdir rootfs");
  if (::fchmodat(workspace, kRootfs, 0755, 0) < 0) return Error::from_errno("chmod rootfs");
  return TreeWriter(TRY(sys::open_at(workspace, kRootfs, O_RDONLY | O_DIRECTORY)), limits);
}

Result<Unpacked> layers_of(SourceKind kind, int directory, const std::string& path, int workspace,
                           const TreeLimits& limits, const Watch& watch) {
  TreeWriter writer = TRY(writer_of(workspace, limits));
  ImageConfig config = TRY(apply_layers(kind, directory, path, writer, watch));
  return Unpacked{std::move(config), writer.tally()};
}

Result<Unpacked> unpack_directory(int directory, const std::string& path, int workspace,
                                  const TreeLimits& limits, const Watch& watch) {
  const SourceKind kind = TRY(kind_of(directory));
  if (kind != SourceKind::kTree) return layers_of(kind, directory, path, workspace, limits, watch);
  TreeWriter writer = TRY(writer_of(workspace, limits));
  TRY(copy_tree(directory, path, writer, watch));
  return Unpacked{{}, writer.tally()};
}

// Which kind of archive it is shows when it is unpacked: one of layers is moved aside, and its
// layers applied from there.
Result<Unpacked> unpack_file(int file, const std::string& path, int workspace,
                             const TreeLimits& limits, const Watch& watch) {
  TreeWriter writer = TRY(writer_of(workspace, limits));
  TRY(unpack_archive(file, path, Names::kPlain, writer, watch));
  const SourceKind kind = TRY(kind_of(writer.root()));
  if (kind == SourceKind::kTree) return Unpacked{{}, writer.tally()};
  if (::renameat(workspace, kRootfs, workspace, kArchive) < 0)
    return Error::from_errno("rename rootfs");
  Unpacked unpacked = TRY(layers_of(kind, writer.root(), path, workspace, limits, watch));
  TRY(remove_tree(workspace, kArchive));
  return unpacked;
}

}  // namespace

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
