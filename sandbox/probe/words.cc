#include "sandbox/probe/words.h"

#include <array>
#include <utility>

namespace sandbox {

namespace {

constexpr auto kLost = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"userns", "the cell's privileges are the host's own"},
    {"userns.unprivileged", "an ordinary user gets no namespaces at all"},
    {"idmap.range", "a job and its cell's pid 1 share one uid"},
    {"pidns", "jobs see that host processes exist"},
    {"mntns", "names and sizes of host files can be seen"},
    {"netns", "only the filter keeps jobs off the network"},
    {"ipcns", "only the filter keeps jobs off the host's IPC"},
    {"utsns", "jobs learn the host's name"},
    {"cgroupns", "jobs learn the path of their group"},
    {"scratch", "disk and inode limits are watched, not enforced"},
    {"proc", "a cell cannot set its jobs' OOM scores"},
    {"uid", "jobs and zygo share one uid"},
    {"chroot", "nothing: no level is built on it"},
    {"cgroup.memory", "memory: per process, and a watch that overshoots"},
    {"cgroup.pids", "processes are counted per uid, not per job"},
    {"cgroup.cpu", "CPU time of unwaited children can be missed"},
    {"landlock", "mounts and file permissions alone guard files"},
    {"landlock.scope", "signals and abstract sockets may reach outside"},
    {"seccomp", "every system call of the kernel can be tried"},
    {"seccomp.notify", "refused calls cannot be named: no UnsafeCode"},
    {"ptrace.read", "refused paths cannot be read, so go unnamed"},
    {"caps", "root in a cell keeps its powers"},
    {"nnp", "set-uid programs could give rights back"},
    {"rlimits", "no second fence behind the cgroups"},
    {"fds", "descriptors of zygo could leak into jobs"},
    {"clone3", "a job's pid cannot be chosen; clone is used"},
    {"pidfd", "a kill could hit a recycled pid"},
    {"cpu policy", "deadlines fire later when jobs spin"},
    {"core scheduling", "no --core-scheduling: threads of a core are shared"},
    {"oom_score_adj", "an OOM kill may hit pid 1 instead of the job"},
});

}  // namespace

std::string_view lost_without(std::string_view name) {
  for (const auto& [what, lost] : kLost) {
    if (what == name) return lost;
  }
  return {};
}

}  // namespace sandbox
