#include <fcntl.h>
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/enclosure/inside.h"
#include "sandbox/sys/file.h"

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

namespace sandbox {
namespace {

using sys::Error;
using sys::Result;

Result<void> attempt(long done, const std::string& what) {
  if (done < 0) return Error::from_errno(what);
  return {};
}

Result<void> set_read_only(const char* path, bool wanted) {
  mount_attr attr{};
  (wanted ? attr.attr_set : attr.attr_clr) = MOUNT_ATTR_RDONLY;
  return attempt(::syscall(SYS_mount_setattr, AT_FDCWD, path, AT_RECURSIVE, &attr, sizeof attr),
                 std::string("mount_setattr ") + path);
}

// In the directory that this process is in, which has the layers.
Result<void> layer(const std::string& target, size_t number) {
  const std::string up = "up-" + std::to_string(number), work = "in-" + std::to_string(number);
  struct stat info {};
  TRY(attempt(::stat(target.c_str(), &info), "stat " + target));
  TRY(attempt(::mkdir(up.c_str(), 0755), "mkdir " + up));
  TRY(attempt(::mkdir(work.c_str(), 0755), "mkdir " + work));
  // The upper directory's mode and owner become those of the whole.
  TRY(attempt(::chmod(up.c_str(), info.st_mode & 07777), "chmod " + up));
  if (::geteuid() == 0) (void)!::chown(up.c_str(), info.st_uid, info.st_gid);
  const std::string options = "lowerdir=" + target + ",upperdir=" + up + ",workdir=" + work;
  return attempt(::mount("zygo", target.c_str(), "overlay", 0, options.c_str()),
                 "mount overlay on " + target);
}

// The folder as the command sees it. It is placed last, because a layer may cover its path.
Result<sys::OwnedFd> make_inner_folder(const EnclosurePlan& plan) {
  TRY(attempt(::mkdir("folder", 0755), "mkdir folder"));
  TRY(attempt(::mkdir("folder/work", 0700), "mkdir work"));
  TRY(attempt(::mkdir("folder/given", 0755), "mkdir given"));
  for (const auto& [name, content] : plan.given) {
    const sys::OwnedFd file = TRY(sys::open("folder/given/" + name, O_WRONLY | O_CREAT | O_EXCL));
    TRY(sys::write_all(file.get(), content));
  }
  const long tree =
      ::syscall(SYS_open_tree, AT_FDCWD, "folder", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  TRY(attempt(tree, "open_tree folder"));
  return sys::OwnedFd(static_cast<int>(tree));
}

}  // namespace

Result<void> mount_enclosure(const EnclosurePlan& plan) {
  TRY(attempt(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "make mounts private"));
  TRY(set_read_only("/", true));
  (void)set_read_only("/sys/fs/cgroup", false);  // for sandboxes in there; in force below our group
  const std::string size = "mode=755,size=" + std::to_string(plan.memory.count);
  TRY(attempt(::mount("zygo", plan.folder.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, size.c_str()),
              "mount tmpfs on " + plan.folder));
  TRY(attempt(::chdir(plan.folder.c_str()), "chdir " + plan.folder));
  const sys::OwnedFd inner = TRY(make_inner_folder(plan));
  for (size_t i = 0; i < plan.layered.size(); ++i) TRY(layer(plan.layered[i], i));
  TRY(attempt(::syscall(SYS_move_mount, inner.get(), "", AT_FDCWD, plan.folder.c_str(),
                        MOVE_MOUNT_F_EMPTY_PATH),
              "move_mount to " + plan.folder));
  return attempt(::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr),
                 "mount /proc");
}

}  // namespace sandbox
