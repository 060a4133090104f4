// The template zygote's loop: a warm, single-threaded process that forks cells on order.

#include "shim/serve.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "sandbox/namespaces.h"
#include "sandbox/sys/socket.h"
#include "shim/cell/cell.h"
#include "shim/program.h"
#include "shim/protocol.h"
#include "shim/seal_code.h"

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif
#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif

namespace shim {

namespace {

using sandbox::Layer;

// Where the C library keeps the thread id of this thread; a raw clone must update it there.
int* thread_id_address() {
  int* address = nullptr;
  return ::prctl(PR_GET_TID_ADDRESS, &address) == 0 ? address : nullptr;
}

// The number of the process in the procfs at hand, which may be another namespace's than ours.
pid_t pid_in_proc(int pidfd) {
  char text[512], path[40];
  std::snprintf(path, sizeof path, "self/fdinfo/%d", pidfd);
  sys::OwnedFd info(::openat(kProcFd, path, O_RDONLY | O_CLOEXEC));
  const ssize_t n = info ? ::read(info.get(), text, sizeof text - 1) : -1;
  if (n <= 0) return -1;
  text[n] = '\0';
  const char* at = std::strstr(text, "Pid:");
  return at ? static_cast<pid_t>(std::strtol(at + 4, nullptr, 10)) : -1;
}

int map_ids(const CellOrder& order, int pidfd) {
  const pid_t pid = pid_in_proc(pidfd);
  if (pid <= 0) return ESRCH;
  if (order.job_id == 0) {
    const sandbox::IdRange uid{order.inside_uid, 0, 1}, gid{order.inside_gid, 0, 1};
    return sandbox::write_id_maps(kProcFd, pid, {&uid, 1}, {&gid, 1});
  }
  const sandbox::IdRange uids[] = {{0, order.init_id, 1}, {order.inside_uid, order.job_id, 1}};
  const sandbox::IdRange gids[] = {{order.inside_init_gid(), order.init_id, 1},
                                   {order.inside_gid, order.job_id, 1}};
  return sandbox::write_id_maps(kProcFd, pid, uids, gids);
}

void report_born(const CellOrder& order, SetupFailure failure, int pidfd) {
  CellBorn born;
  born.cell = order.cell;
  born.failure = failure;
  int fds[1] = {pidfd};
  auto sent = sys::send_message(kControlFd, sys::bytes_of(born), {fds, pidfd >= 0 ? 1u : 0u});
  if (!sent.ok()) ::_exit(0);
}

void make_cell(const CellOrder& order, const std::vector<sys::OwnedFd>& received,
               int* tid_address) {
  int descriptors[sys::kMaxDescriptors];
  unsigned count = 0;
  for (const sys::OwnedFd& fd : received) descriptors[count++] = fd.get();

  int mapped[2];
  if (::pipe2(mapped, O_CLOEXEC) < 0) return report_born(order, {Step::kClone, errno}, -1);
  sys::OwnedFd reader(mapped[0]), writer(mapped[1]);
  sandbox::Layers layers = sandbox::Layers::from_bits(order.layers);
  unsigned long flags = sandbox::clone_flags_for(layers) | SIGCHLD | CLONE_PIDFD;
  if (tid_address) flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
  int pidfd = -1;
  long pid = ::syscall(SYS_clone, flags, nullptr, &pidfd, tid_address, nullptr);
  if (pid < 0) return report_born(order, {Step::kClone, errno}, -1);
  if (pid == 0) run_cell(order, descriptors, count, reader.get(), tid_address);

  sys::OwnedFd born(pidfd);
  int error = layers.has(Layer::kUserNs) ? map_ids(order, born.get()) : 0;
  if (error == 0) {
    (void)!::write(writer.get(), "m", 1);
  } else {
    ::kill(static_cast<pid_t>(pid), SIGKILL);
  }
  report_born(order, {error ? Step::kIdMaps : Step::kNone, error}, born.get());
}

}  // namespace

int native_thread_count() {
  int fd = ::openat(kProcFd, "self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return 0;
  DIR* directory = ::fdopendir(fd);
  int count = 0;
  while (dirent* entry = ::readdir(directory)) count += entry->d_name[0] != '.';
  ::closedir(directory);
  return count;
}

void serve_early_orders(int control) {
  int* tid_address = thread_id_address();
  for (;;) {
    CellOrder order;
    auto received = sys::receive_message(control, sys::writable_bytes_of(order), MSG_DONTWAIT);
    if (!received.ok() || received->size != sizeof order) return;
    make_cell(order, received->fds, tid_address);
  }
}

void serve_cells(int control) {
  // Dead cells are reaped by the kernel; the daemon watches their pidfds. An early one may have
  // ended before this was said.
  struct sigaction ignore {};
  ignore.sa_handler = SIG_DFL;
  ignore.sa_flags = SA_NOCLDWAIT;
  ::sigaction(SIGCHLD, &ignore, nullptr);
  while (::waitpid(-1, nullptr, __WALL | WNOHANG) > 0) {
  }

  seal_code();
  TemplateReady ready;
  ready.threads = static_cast<uint32_t>(native_thread_count());
  ready.in_place = runs_in_place();
  auto sent = sys::send_message(control, sys::bytes_of(ready));
  if (!sent.ok()) ::_exit(1);
  int* tid_address = thread_id_address();
  for (;;) {
    CellOrder order;
    auto received = sys::receive_message(control, sys::writable_bytes_of(order));
    if (!received.ok() || received->size != sizeof order) ::_exit(0);
    make_cell(order, received->fds, tid_address);
  }
}

}  // namespace shim
