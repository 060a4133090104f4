#include "images/tree/tree_digest.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>

#include "images/json/record.h"
#include "images/sha256.h"
#include "images/tree/directory_names.h"
#include "sandbox/sys/file.h"

namespace images {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

class Digest {
 public:
  Digest(uint64_t total, const Watch& watch) : total_(total), watch_(watch) {}

  Result<void> children(int directory, const std::string& path) {
    for (const std::string& name : TRY(names_in(directory))) {
      const std::string each = path + "/" + name;
      auto added = one(directory, name, each);
      if (!added) return std::move(added).error();
    }
    return {};
  }
  TreeFacts facts() { return {all_.hex(), done_, entries_}; }

 private:
  Result<void> one(int directory, const std::string& name, const std::string& path) {
    struct stat info {};
    if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) < 0)
      return Error::from_errno("stat " + path);
    if (S_ISDIR(info.st_mode)) {
      add('d', info.st_mode, path, "");
      const OwnedFd inner = TRY(sys::open_at(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
      return children(inner.get(), path);
    }
    if (S_ISLNK(info.st_mode)) {
      char target[PATH_MAX];
      const ssize_t n = ::readlinkat(directory, name.c_str(), target, sizeof target);
      if (n < 0) return Error::from_errno("readlink " + path);
      add('l', 0777, path, {target, static_cast<size_t>(n)});
      return {};
    }
    if (!S_ISREG(info.st_mode)) return Error::because(path + ": is of no type that an image has");
    const OwnedFd file = TRY(sys::open_at(directory, name, O_RDONLY | O_NOFOLLOW));
    const Watch beneath = [this](const Milestone& milestone) {
      return watch_ ? watch_({"hashing", done_ + milestone.done, total_}) : Wish::kGoOn;
    };
    const std::string content = TRY(sha256_of_file(file.get(), beneath));
    done_ += static_cast<uint64_t>(info.st_size);
    add('f', info.st_mode, path, content);
    return {};
  }

  // No part can hold a NUL, so that no two trees read alike.
  void add(char type, mode_t mode, std::string_view path, std::string_view content) {
    std::string line(1, type);
    line += std::to_string(mode & 0777);
    line += '\0';
    line += path;
    line += '\0';
    line += content;
    line += '\0';
    all_.add(line);
    ++entries_;
  }

  uint64_t total_, done_ = 0, entries_ = 0;
  const Watch& watch_;
  Sha256 all_;
};

}  // namespace

Result<TreeFacts> look_through(int directory, uint64_t total, const Watch& watch) {
  Digest digest(total, watch);
  TRY(digest.children(directory, ""));
  return digest.facts();
}

std::string digest_of_image(const TreeFacts& tree, const ImageConfig& config) {
  return "sha256:" + sha256_of(tree.digest + "\n" + to_json(config));
}

}  // namespace images
