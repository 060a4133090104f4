#pragma once
// The directories, locks and files of a store (store.h draws them). Everything goes by descriptors.

#include <optional>
#include <string>
#include <vector>

#include "images/json/record.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

namespace images {

// The open directories of a store, and its lock while this object lives.
struct LockedStore {
  sys::OwnedFd images, names, lock;
};
// Makes what is missing; waits for the lock.
sys::Result<LockedStore> lock_store(const std::string& root);
// The same without making anything; none when there is no store.
sys::Result<std::optional<LockedStore>> lock_existing(const std::string& root);

// An exclusive lock on a file that is made if need be, while the descriptor lives; waits for it.
sys::Result<sys::OwnedFd> lock_file(const std::string& path);

// The directory of an import under way, locked by its owner; removed with this object.
class Workspace {
 public:
  static sys::Result<Workspace> create(const LockedStore& store);
  Workspace(Workspace&&) = default;
  Workspace& operator=(Workspace&&) = delete;
  ~Workspace();
  int fd() const { return directory_.get(); }
  const std::string& name() const { return name_; }

 private:
  Workspace(sys::OwnedFd images, sys::OwnedFd directory, std::string name)
      : images_(std::move(images)), directory_(std::move(directory)), name_(std::move(name)) {}
  sys::OwnedFd images_, directory_;
  std::string name_;
};

// Takes away the workspaces whose owner is gone and the contents that no name refers to.
sys::Result<void> sweep(const LockedStore& store);

std::string content_directory(const std::string& digest);  // "sha256:HEX" -> "sha256-HEX"
std::string name_file(const std::string& name);            // "NAME.json"
sys::Result<NameRecord> read_name(int names, const std::string& name);
sys::Result<std::vector<std::string>> names_of(int names);
// Whole or not at all, and on the disk when this returns.
sys::Result<void> write_durably(int directory, const std::string& name, std::string_view text);
sys::Result<void> sync_directory(int directory);

}  // namespace images
