#include "runtime/proc.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "sandbox/sys/file.h"

namespace runtime {

namespace {

std::vector<int> children_of(int pid) {
  std::string path = "/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children";
  sys::Result<std::string> text = sys::read_file(path, 1 << 20);
  std::vector<int> pids;
  if (!text) return pids;
  for (char* at = text->data(); *at;) {
    char* end = nullptr;
    long value = std::strtol(at, &end, 10);
    if (end == at) break;
    pids.push_back(static_cast<int>(value));
    at = end;
  }
  return pids;
}

struct SchedStat {
  unsigned long long ran = 0, waited = 0;
};

SchedStat sched_stat_of_descendants(int pid, int depth) {
  SchedStat sum;
  if (pid <= 0 || depth > 16) return sum;
  for (int child : children_of(pid)) {
    SchedStat own;
    sys::Result<std::string> text = sys::read_file("/proc/" + std::to_string(child) + "/schedstat", 4096);
    if (text.ok() && std::sscanf(text->c_str(), "%llu %llu", &own.ran, &own.waited) == 2) {
      sum.ran += own.ran;
      sum.waited += own.waited;
    }
    SchedStat below = sched_stat_of_descendants(child, depth + 1);
    sum.ran += below.ran;
    sum.waited += below.waited;
  }
  return sum;
}

}  // namespace

int pid_of_pidfd(int pidfd) {
  sys::Result<std::string> info = sys::read_file("/proc/self/fdinfo/" + std::to_string(pidfd), 4096);
  if (!info) return -1;
  const char* at = std::strstr(info->c_str(), "Pid:");
  return at ? std::atoi(at + 4) : -1;
}

void kill_by_pidfd(int pidfd) { ::syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0); }

sys::Nanoseconds cpu_of_descendants(int pid) {
  return sys::Nanoseconds(static_cast<int64_t>(sched_stat_of_descendants(pid, 0).ran));
}

sys::Nanoseconds waiting_time_of_descendants(int pid) {
  return sys::Nanoseconds(static_cast<int64_t>(sched_stat_of_descendants(pid, 0).waited));
}

unsigned usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) < 0) return 1;
  int count = CPU_COUNT(&set);
  return count > 0 ? static_cast<unsigned>(count) : 1;
}

}  // namespace runtime
