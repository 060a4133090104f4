// Trials of namespaces, mounts and ids. Everything here runs in a forked child.

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstring>

#include "sandbox/probe/child.h"
#include "sandbox/sys/fd.h"

namespace sandbox {

namespace {

// A line for a control file, put together without allocation.
class Line {
 public:
  Line& operator<<(const char* text) {
    size_t length = std::strlen(text);
    if (size_ + length < sizeof text_) {
      std::memcpy(text_ + size_, text, length);
      size_ += length;
    }
    return *this;
  }
  Line& operator<<(unsigned long value) {
    auto [end, problem] = std::to_chars(text_ + size_, text_ + sizeof text_ - 1, value);
    if (problem == std::errc{}) size_ = static_cast<size_t>(end - text_);
    return *this;
  }
  const char* text() {
    text_[size_] = '\0';
    return text_;
  }
  size_t size() const { return size_; }

 private:
  char text_[128] = {};
  size_t size_ = 0;
};

// The child exits soon, so its descriptors are left to the kernel.
int write_line(const char* path, Line line) {
  int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  ssize_t n = ::write(fd, line.text(), line.size());
  return n < 0 ? errno : 0;
}

// A user namespace in which we are 0: what any user may do where it is allowed at all.
ProbeAnswer enter_user_namespace() {
  const unsigned long uid = ::geteuid();
  const unsigned long gid = ::getegid();
  // The files below belong to root while we are not dumpable.
  ::prctl(PR_SET_DUMPABLE, 1);
  if (::unshare(CLONE_NEWUSER) < 0) return refused("unshare user namespace");
  if (int error = write_line("/proc/self/setgroups", Line() << "deny")) {
    return refused("write setgroups", error);
  }
  if (int error = write_line("/proc/self/uid_map", Line() << "0 " << uid << " 1")) {
    return refused("write uid_map", error);
  }
  if (int error = write_line("/proc/self/gid_map", Line() << "0 " << gid << " 1")) {
    return refused("write gid_map", error);
  }
  return {};
}

int be_pid_one() { return ::getpid() == 1 ? 0 : ESRCH; }

// A tmpfs can go here; both exist nearly everywhere, and only our own namespace sees it.
constexpr const char* kMountPoints[] = {"/tmp", "/proc"};

ProbeAnswer mount_tmpfs(const char** where) {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0) {
    return refused("make mounts private");
  }
  for (const char* point : kMountPoints) {
    *where = point;
    if (::mount("zygo", point, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,nr_inodes=16") == 0) {
      return {};
    }
  }
  return refused("mount tmpfs");
}

ProbeAnswer mount_and_pivot() {
  const char* root = kMountPoints[0];
  if (ProbeAnswer mounted = mount_tmpfs(&root); !mounted.ok()) return mounted;
  Line old;
  old << root << "/old";
  if (::mkdir(old.text(), 0700) < 0) return refused("mkdir in tmpfs");
  if (::syscall(SYS_pivot_root, root, old.text()) < 0) return refused("pivot_root");
  if (::chdir("/") < 0) return refused("chdir to the new root");
  if (::umount2("/old", MNT_DETACH) < 0) return refused("detach the old root");
  return {};
}

int mount_proc() {
  int context = ::fsopen("proc", FSOPEN_CLOEXEC);
  if (context < 0) return errno;
  if (::fsconfig(context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) < 0) return errno;
  int mounted = ::fsmount(context, FSMOUNT_CLOEXEC, 0);
  if (mounted < 0) return errno;
  return ::faccessat(mounted, "1/status", F_OK, 0) == 0 ? 0 : errno;
}

ProbeAnswer enter(const NamespaceTrial& trial) {
  if (trial.where == NamespaceTrial::Where::kUserNamespace) {
    if (ProbeAnswer entered = enter_user_namespace(); !entered.ok()) return entered;
  }
  if (trial.flag != 0 && ::unshare(trial.flag) < 0) return refused("unshare");
  return {};
}

struct Channel {
  sys::OwnedFd reader;
  sys::OwnedFd writer;
};

bool open_channel(Channel& channel) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return false;
  channel = {sys::OwnedFd(ends[0]), sys::OwnedFd(ends[1])};
  return true;
}

// The side inside the namespace: waits for its ids, then takes the second one.
int adopt_mapped_id(const Channel& ready, Channel& mapped) {
  if (::unshare(CLONE_NEWUSER) < 0) return errno;
  char byte = 0;
  if (::write(ready.writer.get(), &byte, 1) != 1) return EPIPE;
  mapped.writer.reset();
  if (::read(mapped.reader.get(), &byte, 1) != 1) return EPIPE;
  if (::setresgid(1, 1, 1) < 0 || ::setresuid(1, 1, 1) < 0) return errno;
  return ::getuid() == 1 ? 0 : EPERM;
}

int map_two_ids(unsigned long pid, const SpareIds& ids) {
  const unsigned long uid = ids.uid;
  const unsigned long gid = ids.gid;
  Line uid_map = Line() << "/proc/" << pid << "/uid_map";
  if (int error = write_line(uid_map.text(), Line() << "0 " << uid << " 2")) return error;
  Line gid_map = Line() << "/proc/" << pid << "/gid_map";
  return write_line(gid_map.text(), Line() << "0 " << gid << " 2");
}

int become(const SpareIds& ids) {
  if (::setgroups(0, nullptr) < 0) return errno;
  if (::setresgid(ids.gid, ids.gid, ids.gid) < 0) return errno;
  if (::setresuid(ids.uid, ids.uid, ids.uid) < 0) return errno;
  return 0;
}

}  // namespace

ProbeAnswer try_namespace(const void* namespace_trial) {
  const auto& trial = *static_cast<const NamespaceTrial*>(namespace_trial);
  if (ProbeAnswer entered = enter(trial); !entered.ok()) return entered;
  if (trial.flag == CLONE_NEWPID) return run_in_grandchild(be_pid_one, "be pid 1");
  if (trial.flag == CLONE_NEWNS) return mount_and_pivot();
  return {};
}

ProbeAnswer try_all_namespaces(const void*) {
  const NamespaceTrial trial{.flag = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC |
                                     CLONE_NEWUTS | CLONE_NEWCGROUP};
  if (ProbeAnswer entered = enter(trial); !entered.ok()) return entered;
  if (ProbeAnswer born = run_in_grandchild(be_pid_one, "be pid 1"); !born.ok()) return born;
  return mount_and_pivot();
}

ProbeAnswer try_unprivileged_user_namespace(const void* spare_ids) {
  if (int error = become(*static_cast<const SpareIds*>(spare_ids))) {
    return refused("become another user", error);
  }
  return enter_user_namespace();
}

ProbeAnswer try_scratch(const void* namespace_trial) {
  const auto& trial = *static_cast<const NamespaceTrial*>(namespace_trial);
  if (ProbeAnswer entered = enter(trial); !entered.ok()) return entered;
  const char* where = kMountPoints[0];
  return mount_tmpfs(&where);
}

// The kernel refuses when the present /proc has parts masked, as containers do.
ProbeAnswer try_fresh_proc(const void*) {
  const NamespaceTrial trial{.flag = CLONE_NEWPID | CLONE_NEWNS};
  if (ProbeAnswer entered = enter(trial); !entered.ok()) return entered;
  return run_in_grandchild(mount_proc, "mount a fresh proc");
}

ProbeAnswer try_map_range(const void* spare_ids) {
  Channel ready;
  Channel mapped;
  if (!open_channel(ready) || !open_channel(mapped)) return refused("make a pipe");
  pid_t pid = ::fork();
  if (pid < 0) return refused("fork");
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::_exit(adopt_mapped_id(ready, mapped));
  }
  ready.writer.reset();
  char byte = 0;
  const char* step = "use a mapped range of ids";
  int error = 0;
  if (::read(ready.reader.get(), &byte, 1) == 1) {
    error = map_two_ids(static_cast<unsigned long>(pid), *static_cast<const SpareIds*>(spare_ids));
  }
  if (error != 0) {
    step = "map a range of ids";
  } else {
    (void)!::write(mapped.writer.get(), &byte, 1);
  }
  mapped.writer.reset();  // without a byte before it: the namespace gives up
  int seen = wait_for(pid, &step);
  return {error != 0 ? error : seen, step, 0};
}

// As a cell does with its jobs: another uid is taken, and can be ended from here.
ProbeAnswer try_another_uid(const void* spare_ids) {
  Channel ready;
  if (!open_channel(ready)) return refused("make a pipe");
  pid_t pid = ::fork();
  if (pid < 0) return refused("fork");
  if (pid == 0) {
    int error = become(*static_cast<const SpareIds*>(spare_ids));
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // after the change, which clears it
    (void)!::write(ready.writer.get(), &error, sizeof error);
    for (;;) ::pause();
  }
  int error = ECHILD;
  (void)!::read(ready.reader.get(), &error, sizeof error);
  if (error != 0) {
    ::kill(pid, SIGKILL);
    return refused("become another user", error);
  }
  // If this is refused, the child ends with us.
  if (::kill(pid, SIGKILL) < 0) return refused("signal a process of another user");
  return {};
}

ProbeAnswer try_chroot(const void*) {
  if (::chroot("/proc") < 0) return refused("chroot");
  return {};
}

}  // namespace sandbox
