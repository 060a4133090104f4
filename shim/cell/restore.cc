// What a job has left in its cell, and how that is brought back.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <charconv>
#include <string_view>

#include "sandbox/mounts/wipe.h"
#include "shim/cell/cell.h"

namespace shim {

namespace {

// Where files are shared with the host, changing a mode is a question to the daemon.
void restore_mode(int fd, mode_t mode) {
  struct stat status {};
  if (::fstat(fd, &status) < 0 || (status.st_mode & 07777) != mode) ::fchmod(fd, mode);
}

// A scratch without limits or accounts of its own: what it held is found out by wiping it.
void restore_directory(const Cell& cell, JobDone& done) {
  restore_mode(kFdScratch, cell.reach == Reach::kUser ? 01770 : 0700);
  done.clean = 1;
  if (sandbox::is_empty(kFdScratch)) return;
  sandbox::Contents held = sandbox::wipe_directory(kFdScratch);
  done.blocks_full = held.bytes > cell.scratch_bytes_limit;
  done.inodes_full = held.entries > cell.scratch_inodes_limit;
  done.clean = sandbox::is_empty(kFdScratch);
}

// Restores what takes neither a block nor an inode and so does not show in statfs: where the job
// has our uid, it owns its scratch.
void restore_root_of_scratch() {
  for (const char* list : {"system.posix_acl_access", "system.posix_acl_default"}) {
    ::fremovexattr(kFdScratch, list);
  }
  ::fchmod(kFdScratch, 01777);
}

// Sockets that are under way in each other's queues outlive their processes, with all that is under
// way with them, until the kernel looks for such cycles (net/unix/garbage.c). Those of a namespace
// are gone when its cell is; elsewhere the close of any socket has the kernel look.
bool left_sockets(const Cell& cell) {
  if (cell.sockets >= 0) return count_sockets() != cell.sockets;
  int ends[2];
  if (cell.makes_sockets && ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  return false;
}

// Brings the cell back to what it was before the job: streams and scratch.
void restore_files(const Cell& cell, JobDone& done) {
  restore_streams(cell);
  if (cell.home) return restore_directory(cell, done);
  struct statfs info {};
  ::fstatfs(kFdScratch, &info);
  done.blocks_full = info.f_bfree == 0;
  done.inodes_full = info.f_ffree == 0;
  done.clean = 1;
  if (!cell.two_ids) restore_root_of_scratch();
  if (info.f_bfree == cell.scratch_blocks && info.f_ffree == cell.scratch_inodes) return;
  sandbox::wipe_directory(kFdScratch);
  ::fstatfs(kFdScratch, &info);
  done.clean = info.f_bfree == cell.scratch_blocks && info.f_ffree == cell.scratch_inodes;
}

}  // namespace

int64_t count_sockets() {
  constexpr std::string_view kHead = "sockets: used ";  // proc_net(5), sockstat
  char text[128];
  const ssize_t size = ::pread(kFdSockets, text, sizeof text, 0);
  const std::string_view said(text, size > 0 ? static_cast<size_t>(size) : 0);
  int64_t count = -1;
  if (said.starts_with(kHead))
    std::from_chars(said.data() + kHead.size(), said.data() + said.size(), count);
  return count;
}

// The job used the same descriptions as we hold, and as the next job will: their flags, their locks
// and, where the job has our uid, the mode of the pipes outlive it.
void restore_streams(const Cell& cell) {
  for (int fd : {1, 2, int{kFdNull}}) {
    ::fcntl(fd, F_SETFL, fd == kFdNull ? O_RDONLY : O_WRONLY);
    ::flock(fd, LOCK_UN);
    struct flock everything {};
    everything.l_type = F_UNLCK;
    ::fcntl(fd, F_OFD_SETLK, &everything);
    if (!cell.home && fd != kFdNull) ::futimens(fd, nullptr);  // where a job could set them
    if (cell.two_ids || fd == kFdNull) continue;
    restore_mode(fd, 0622);  // as the daemon made it: see make_pipe_for_program
  }
}

void restore(const Cell& cell, JobDone& done) {
  restore_files(cell, done);
  if (left_sockets(cell)) done.clean = 0;
}

}  // namespace shim
