#include "sandbox/mounts/mounts.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <optional>

#include "sandbox/sys/file.h"

// <sys/mount.h> of glibc 2.36 declares these, <linux/mount.h> defines the flags; the numbers are
// those of every architecture but alpha.
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

namespace sandbox {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

Result<OwnedFd> detached_copy(const std::string& source) {
  long fd = ::syscall(SYS_open_tree, AT_FDCWD, source.c_str(),
                      OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
  if (fd < 0) return Error::from_errno("open_tree " + source);
  return OwnedFd(static_cast<int>(fd));
}

Result<void> restrict_tree(int tree, uint64_t attributes, const std::string& name) {
  mount_attr attr{};
  attr.attr_set = attributes;
  attr.propagation = MS_PRIVATE;
  if (::syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr) <
      0) {
    return Error::from_errno("mount_setattr " + name);
  }
  return {};
}

// None: nothing is mounted for it.
std::optional<uint64_t> attributes_of(ImageEntry::Kind kind) {
  constexpr uint64_t kAll = MOUNT_ATTR_NOSUID | MOUNT_ATTR_RDONLY;
  switch (kind) {
    case ImageEntry::Kind::kBind:
      return kAll | MOUNT_ATTR_NODEV;
    case ImageEntry::Kind::kDevice:
      return kAll | MOUNT_ATTR_NOEXEC;
    case ImageEntry::Kind::kData:
      return kAll | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
    case ImageEntry::Kind::kSymlink:
    case ImageEntry::Kind::kFile:
    case ImageEntry::Kind::kDirectory:
      break;
  }
  return std::nullopt;
}

Result<void> make_parents(int root, const std::string& target) {
  for (size_t at = target.find('/', 1); at != std::string::npos; at = target.find('/', at + 1)) {
    if (::mkdirat(root, target.substr(1, at - 1).c_str(), 0755) < 0 && errno != EEXIST) {
      return Error::from_errno("mkdir " + target.substr(0, at));
    }
  }
  return {};
}

Result<void> make_mount_point(int root, const std::string& path, int tree) {
  struct stat info {};
  if (::fstat(tree, &info) < 0) return Error::from_errno("stat source of " + path);
  int made = S_ISDIR(info.st_mode) ? ::mkdirat(root, path.c_str(), 0755)
                                   : ::mknodat(root, path.c_str(), S_IFREG | 0644, 0);
  if (made < 0 && errno != EEXIST) return Error::from_errno("make mount point /" + path);
  return {};
}

Result<void> place(int root, const ImageEntry& entry, const OwnedFd& tree) {
  TRY(make_parents(root, entry.target));
  std::string path = entry.target.substr(1);
  switch (entry.kind) {
    case ImageEntry::Kind::kBind:
    case ImageEntry::Kind::kData:
    case ImageEntry::Kind::kDevice:
      TRY(make_mount_point(root, path, tree.get()));
      if (::syscall(SYS_move_mount, tree.get(), "", root, path.c_str(), MOVE_MOUNT_F_EMPTY_PATH) <
          0) {
        return Error::from_errno("move_mount to " + entry.target);
      }
      return {};
    case ImageEntry::Kind::kSymlink:
      if (::symlinkat(entry.source.c_str(), root, path.c_str()) < 0) {
        return Error::from_errno("symlink " + entry.target);
      }
      return {};
    case ImageEntry::Kind::kFile: {
      OwnedFd file = TRY(sys::open_at(root, path, O_WRONLY | O_CREAT | O_EXCL, 0644));
      return sys::write_all(file.get(), entry.source);
    }
    case ImageEntry::Kind::kDirectory:
      if (::mkdirat(root, path.c_str(), 0755) < 0 && errno != EEXIST) {
        return Error::from_errno("mkdir " + entry.target);
      }
      return {};
  }
  return {};
}

}  // namespace

Result<void> build_image(const ImagePlan& plan, const std::string& staging) {
  // The sources first: one of them may lie beneath the staging directory.
  std::vector<OwnedFd> trees(plan.size());
  for (size_t i = 0; i < plan.size(); ++i) {
    const std::optional<uint64_t> attributes = attributes_of(plan[i].kind);
    if (!attributes) continue;
    trees[i] = TRY(detached_copy(plan[i].source));
    TRY(restrict_tree(trees[i].get(), *attributes, plan[i].source));
  }
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0) {
    return Error::from_errno("make mounts private");
  }
  if (::mount("zygo", staging.c_str(), "tmpfs", MS_NOSUID | MS_NODEV,
              "size=1m,nr_inodes=1k,mode=755") < 0) {
    return Error::from_errno("mount image on " + staging);
  }
  OwnedFd root = TRY(sys::open(staging, O_DIRECTORY | O_PATH));
  mode_t old_mask = ::umask(022);
  for (size_t i = 0; i < plan.size(); ++i) TRY(place(root.get(), plan[i], trees[i]));
  ::umask(old_mask);
  if (::mount(nullptr, staging.c_str(), nullptr,
              MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, nullptr) < 0) {
    return Error::from_errno("make image read-only");
  }
  return {};
}

Result<void> pivot_into(const std::string& staging) {
  // A mount inherited by a less privileged namespace is locked and cannot become the root; a bind
  // of it can (mount_namespaces(7)).
  const char* path = staging.c_str();
  if (::mount(path, path, nullptr, MS_BIND | MS_REC, nullptr) < 0)
    return Error::from_errno("bind image");
  if (::chdir(path) < 0) return Error::from_errno("chdir image");
  if (::syscall(SYS_pivot_root, ".", ".") < 0) return Error::from_errno("pivot_root");
  if (::umount2(".", MNT_DETACH) < 0) return Error::from_errno("detach host root");
  if (::chdir("/") < 0) return Error::from_errno("chdir /");
  return {};
}

Result<OwnedFd> detached_proc() {
  OwnedFd context(static_cast<int>(::syscall(SYS_fsopen, "proc", FSOPEN_CLOEXEC)));
  if (!context) return Error::from_errno("fsopen proc");
  if (::syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) < 0) {
    return Error::from_errno("create proc");
  }
  OwnedFd proc(
      static_cast<int>(::syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC,
                                 MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)));
  if (!proc) return Error::from_errno("fsmount proc");
  return proc;
}

int attach_mount(int mount, const char* target) {
  const long moved =
      ::syscall(SYS_move_mount, mount, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH);
  return moved < 0 ? errno : 0;
}

int mount_own_proc(const char* target) {
  constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (::mount("proc", target, "proc", kFlags, "subset=pid,hidepid=invisible") == 0) return 0;
  return ::mount("none", target, "tmpfs", kFlags | MS_RDONLY, "size=4k,mode=555") < 0 ? errno : 0;
}

int mount_scratch(const char* target, uint64_t bytes, uint64_t inodes, Exec exec) {
  char options[96];
  std::snprintf(options, sizeof options, "size=%llu,nr_inodes=%llu,mode=1777",
                static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(inodes));
  unsigned long flags = MS_NOSUID | MS_NODEV | (exec == Exec::kNo ? MS_NOEXEC : 0);
  return ::mount("scratch", target, "tmpfs", flags, options) < 0 ? errno : 0;
}

}  // namespace sandbox
