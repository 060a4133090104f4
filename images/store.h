#pragma once
// Store: the images of this host, by name. Content is kept once, under its digest:
//
//   ROOT/images/sha256-HEX/{rootfs/,config.json}    HEX covers the tree and the configuration
//   ROOT/names/NAME.json                            which digest a name stands for, and its origin
//   ROOT/images/tmp-*                               an import under way, locked by its process
//   ROOT/lock                                       held while names and contents change
//
// An import becomes visible by two renames under the lock, after everything has reached the disk. A
// crash leaves at most a tmp-* or content without a name; the next import or removal takes them
// away. Any number of processes may use one store. Errors without an errno are about what is
// imported or asked for; those with one come from the host.

#include <string>
#include <string_view>
#include <vector>

#include "images/config.h"
#include "images/progress.h"
#include "images/tree/tree_writer.h"

namespace images {

struct Image {
  std::string name, digest;  // "sha256:HEX"
  std::string rootfs;        // absolute path on the host; never written to
  ImageConfig config;
  uint64_t bytes = 0, entries = 0;  // of all files, and of all paths
  std::string source, imported;     // the path it came from, and when: "2026-01-31T12:00:00Z"
};

struct Imported {
  Image image;
  uint64_t skipped = 0;        // devices, fifos and sockets that were left out
  bool stored_before = false;  // the same content was there already
};

class Store {
 public:
  // $ZYGO_HOME, else /var/lib/zygo for root, else $XDG_DATA_HOME/zygo or ~/.local/share/zygo.
  static sys::Result<std::string> default_root();
  // An absolute path. Nothing is made before the first import.
  explicit Store(std::string root) : root_(std::move(root)) {}

  // 1 to 128 letters, digits and . _ : + -, the first a letter or a digit.
  static sys::Result<void> check_name(std::string_view name);

  // A name that is taken stands for the new content afterwards. A failed import leaves nothing.
  sys::Result<Imported> import(const std::string& name, const std::string& path,
                               const Watch& watch = {}, const TreeLimits& limits = {});
  sys::Result<std::vector<Image>> list() const;  // by name
  sys::Result<Image> find(const std::string& name) const;
  // Content goes with the last name that refers to it.
  sys::Result<void> remove(const std::string& name);

 private:
  sys::Result<void> publish(const std::string& workspace, const Image& image);
  Image described(const std::string& name, const std::string& digest) const;

  std::string root_;
};

}  // namespace images
