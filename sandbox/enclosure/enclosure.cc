#include "sandbox/enclosure/enclosure.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/enclosure/inside.h"
#include "sandbox/namespaces.h"
#include "sandbox/sys/file.h"

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif

namespace sandbox {
namespace {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

uint64_t namespaces_of(Fence fence) {
  if (fence == Fence::kProcesses) return 0;
  const uint64_t own_user = ::geteuid() == 0 ? 0 : CLONE_NEWUSER;
  return CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | own_user;
}

// Of a child in a user namespace of its own, which waits for it.
Result<void> map_ids(pid_t pid) {
  const OwnedFd proc = TRY(sys::open("/proc", O_DIRECTORY | O_RDONLY));
  if (const int error = write_single_id_maps(proc.get(), pid, ::geteuid()); error != 0)
    return Error::from_errno("map ids", error);
  return {};
}

void wait_for_ids(int reader) {
  char byte = 0;
  (void)!::read(reader, &byte, 1);
}

}  // namespace

Result<sys::Child> start_enclosed(const EnclosurePlan& plan) {
  sys::Pipe mapped = TRY(sys::make_pipe());
  const uint64_t flags = namespaces_of(plan.fence);
  int pidfd = -1;
  const long pid =
      ::syscall(SYS_clone, flags | SIGCHLD | CLONE_PIDFD, nullptr, &pidfd, nullptr, nullptr);
  if (pid < 0) return Error::from_errno("start in namespaces of its own");
  if (pid == 0) {
    mapped.writer.reset();
    if ((flags & CLONE_NEWUSER) != 0) wait_for_ids(mapped.reader.get());
    lead_enclosure(plan);
  }
  sys::Child child{OwnedFd(pidfd)};
  if ((flags & CLONE_NEWUSER) != 0) TRY(map_ids(static_cast<pid_t>(pid)));
  return child;
}

void end_enclosed(const sys::Child& child, Fence fence) {
  child.kill(fence == Fence::kNamespaces ? SIGKILL : SIGTERM);
}

Result<void> try_enclosure(const std::string& folder, const std::vector<std::string>& layered) {
  const OwnedFd null = TRY(sys::open("/dev/null", O_RDWR));
  sys::Pipe said = TRY(sys::make_pipe());
  EnclosurePlan plan;
  plan.argv = {"/bin/true"};
  plan.folder = folder;
  plan.layered = layered;
  plan.in = plan.out = plan.err = null.get();
  plan.trouble = said.writer.get();
  sys::Child child = TRY(start_enclosed(plan));
  said.writer.reset();
  const std::string reason = TRY(sys::read_all(said.reader.get(), 4096));
  (void)child.wait();
  if (!reason.empty()) return Error::because(reason);
  return {};
}

}  // namespace sandbox
