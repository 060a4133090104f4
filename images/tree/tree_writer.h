#pragma once
// TreeWriter: makes a root file system below one directory, out of members with untrusted names.
// Every step goes from the directory's descriptor, component by component, and follows no symbolic
// link, so that nothing outside is ever touched, whatever the names say. Used by an import, in its
// thread; nobody else writes in that directory meanwhile.
//
// A directory may be a link that a lower layer has left (/lib -> usr/lib): files of an upper layer
// below it go where the link leads inside of the root, as for the image's programs. A link of the
// same archive is never followed.
//
// Everything becomes the caller's. Modes are reduced to two: 0755 for directories and for files
// that anyone may execute, 0644 for other files. A job has another uid and must be able to read its
// image, which it sees read-only; set-id bits and other users' write permission are of no use
// there, and of much harm on the host. Modification times of files are kept: Python compares them.
// A later member takes the place of an earlier one of the same path.

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <unordered_set>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace images {

struct TreeLimits {
  sys::Bytes total = sys::mebibytes(16 << 10);  // of all files' sizes; a hole counts as well
  uint64_t entries = 2'000'000;
  size_t path = 3072;  // bytes of a member's path; the store's own comes before it
  size_t depth = 128;  // components of a member's path
};

struct FileFacts {
  uint32_t mode = 0;  // as the archive has it
  timespec modified{};
  uint64_t size = 0;  // bytes; what was not written is a hole
};

struct TreeTally {
  uint64_t entries = 0, bytes = 0;
  uint64_t skipped = 0;  // devices, fifos, sockets: never made
};

class TreeWriter {
 public:
  TreeWriter(sys::OwnedFd root, const TreeLimits& limits)
      : root_(std::move(root)), limits_(limits) {}

  // A member's name as a path below the root, without "." and doubled slashes; empty: the root
  // itself. Refused: absolute, "..", too long, too deep. The error is a clause about the member.
  sys::Result<std::string> path_of(std::string_view name) const;
  // Counts one more member of so many bytes, or refuses it.
  sys::Result<void> admit(uint64_t bytes);
  void skip() { ++tally_.skipped; }

  // Paths are those of path_of(). Missing parents are made.
  sys::Result<void> make_directory(const std::string& path);
  sys::Result<sys::OwnedFd> create_file(const std::string& path);
  sys::Result<void> finish_file(int file, const FileFacts& facts);
  sys::Result<void> make_symlink(const std::string& path, const std::string& target);
  // `target` must be a regular file that is there already.
  sys::Result<void> make_hard_link(const std::string& path, const std::string& target);

  // Layers: what one adds hides what lower ones had; a whiteout touches the lower ones' only.
  void begin_layer() { added_.clear(), layered_ = true; }
  sys::Result<void> white_out(const std::string& path);
  sys::Result<void> make_opaque(const std::string& path);

  const TreeTally& tally() const { return tally_; }
  const TreeLimits& limits() const { return limits_; }
  int root() const { return root_.get(); }

 private:
  enum class Missing : uint8_t { kMake, kRefuse };
  struct Place {
    int directory;  // borrowed: valid until the next call
    std::string name;
    std::string path;  // without links: what added_ knows it by
  };
  sys::Result<std::string> without_links(const std::string& directory) const;
  sys::Result<Place> place_of(const std::string& path, Missing missing);
  sys::Result<void> step_into(sys::OwnedFd& at, const std::string& path, size_t begin, size_t end,
                              Missing missing);
  sys::Result<void> make_room(const Place& place);
  sys::Result<void> remove_lower(int directory, const std::string& path);
  void note(const std::string& path);

  sys::OwnedFd root_;
  TreeLimits limits_;
  TreeTally tally_;
  // Most members lie beside the one before: its parent as it was named, and as it is without links.
  std::string parent_named_, parent_path_;
  sys::OwnedFd parent_;
  bool layered_ = false;
  std::unordered_set<std::string> added_;  // by the present layer, with their parents
};

}  // namespace images
