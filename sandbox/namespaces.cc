#include "sandbox/namespaces.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "sandbox/sys/fd.h"

namespace sandbox {

uint64_t clone_flags_for(Layers layers) {
  struct Row {
    Layer layer;
    uint64_t flag;
  };
  constexpr Row kRows[] = {
      {Layer::kUserNs, CLONE_NEWUSER}, {Layer::kPidNs, CLONE_NEWPID},
      {Layer::kMountNs, CLONE_NEWNS},  {Layer::kNetNs, CLONE_NEWNET},
      {Layer::kIpcNs, CLONE_NEWIPC},   {Layer::kUtsNs, CLONE_NEWUTS},
  };
  uint64_t flags = 0;
  for (const Row& row : kRows) {
    if (layers.has(row.layer)) flags |= row.flag;
  }
  return flags;
}

namespace {
int write_proc(int proc, pid_t pid, const char* file, const char* text, size_t size) {
  char path[64];
  std::snprintf(path, sizeof path, "%d/%s", static_cast<int>(pid), file);
  sys::OwnedFd fd(::openat(proc, path, O_WRONLY | O_CLOEXEC));
  if (!fd) return errno;
  return ::write(fd.get(), text, size) == static_cast<ssize_t>(size) ? 0 : errno;
}

int write_map(int proc, pid_t pid, const char* file, std::span<const IdRange> ranges) {
  char map[512];
  size_t size = 0;
  for (const IdRange& range : ranges) {
    if (size >= sizeof map) return E2BIG;
    int n = std::snprintf(map + size, sizeof map - size, "%u %u %u\n", range.inside, range.outside,
                          range.count);
    size += static_cast<size_t>(n);
  }
  return size < sizeof map ? write_proc(proc, pid, file, map, size) : E2BIG;
}
}  // namespace

int write_id_maps(int proc, pid_t pid, std::span<const IdRange> uids,
                  std::span<const IdRange> gids) {
  if (int error = write_map(proc, pid, "uid_map", uids)) return error;
  return write_map(proc, pid, "gid_map", gids);
}

int write_single_id_maps(int proc, pid_t pid, uint32_t inside) {
  char map[64];
  if (int error = write_proc(proc, pid, "setgroups", "deny", 4)) return error;
  int n = std::snprintf(map, sizeof map, "%u %u 1\n", inside, ::geteuid());
  if (int error = write_proc(proc, pid, "uid_map", map, static_cast<size_t>(n))) return error;
  n = std::snprintf(map, sizeof map, "%u %u 1\n", inside, ::getegid());
  return write_proc(proc, pid, "gid_map", map, static_cast<size_t>(n));
}

// Raw system calls: the C library's wrappers signal every thread of the process, and after a raw
// clone its thread list is the parent's.
int become(uint32_t uid, uint32_t gid, bool can_set_groups) {
  if (can_set_groups && ::syscall(SYS_setgroups, 0, nullptr) < 0) return errno;
  if (::syscall(SYS_setresgid, gid, gid, gid) < 0) return errno;
  if (::syscall(SYS_setresuid, uid, uid, uid) < 0) return errno;
  return 0;
}

}  // namespace sandbox
