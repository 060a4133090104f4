#include "runtime/proc.h"

#include <dirent.h>
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

constexpr int kDeepest = 16;  // generations looked at; a longer chain has a wall limit

std::string in_proc(int pid, const std::string& file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

// The threads of a process; each has children of its own.
std::vector<int> threads_of(int pid) {
  std::vector<int> tids;
  DIR* directory = ::opendir(in_proc(pid, "task").c_str());
  if (!directory) return tids;
  while (const dirent* entry = ::readdir(directory)) {
    if (int tid = std::atoi(entry->d_name); tid > 0) tids.push_back(tid);
  }
  ::closedir(directory);
  return tids;
}

void add_numbers(const std::string& text, std::vector<int>& numbers) {
  for (const char* at = text.c_str(); *at;) {
    char* end = nullptr;
    long value = std::strtol(at, &end, 10);
    if (end == at) break;
    numbers.push_back(static_cast<int>(value));
    at = end;
  }
}

void add_descendants(int pid, int depth, std::vector<int>& found) {
  if (pid <= 0 || depth > kDeepest) return;
  std::vector<int> children;
  for (int tid : threads_of(pid)) {
    sys::Result<std::string> text =
        sys::read_file(in_proc(pid, "task/" + std::to_string(tid) + "/children"), 1 << 20);
    if (text.ok()) add_numbers(*text, children);
  }
  for (int child : children) {
    found.push_back(child);
    add_descendants(child, depth + 1, found);
  }
}

std::vector<int> descendants_of(int pid) {
  std::vector<int> found;
  add_descendants(pid, 0, found);
  return found;
}

// In clock ticks: its threads, living and dead, and the children it has waited for.
uint64_t ticks_of(int pid) {
  sys::Result<std::string> text = sys::read_file(in_proc(pid, "stat"), 4096);
  size_t name_end = text.ok() ? text->rfind(')') : std::string::npos;
  if (name_end == std::string::npos) return 0;
  unsigned long long user = 0, system = 0;
  long long children_user = 0, children_system = 0;
  const char* fields = text->c_str() + name_end + 1;
  if (std::sscanf(fields, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld", &user,
                  &system, &children_user, &children_system) != 4) {
    return 0;
  }
  return user + system + static_cast<uint64_t>(children_user + children_system);
}

// schedstat speaks of one thread.
uint64_t waited_ns_of(int pid) {
  uint64_t sum = 0;
  for (int tid : threads_of(pid)) {
    unsigned long long waited = 0;
    sys::Result<std::string> text =
        sys::read_file(in_proc(pid, "task/" + std::to_string(tid) + "/schedstat"), 4096);
    if (text.ok() && std::sscanf(text->c_str(), "%*u %llu", &waited) == 1) sum += waited;
  }
  return sum;
}

uint64_t kilobytes_after(const std::string& text, const char* key) {
  const char* at = std::strstr(text.c_str(), key);
  return at ? std::strtoull(at + std::strlen(key), nullptr, 10) : 0;
}

}  // namespace

int pid_of_pidfd(int pidfd) {
  sys::Result<std::string> info =
      sys::read_file("/proc/self/fdinfo/" + std::to_string(pidfd), 4096);
  if (!info) return -1;
  const char* at = std::strstr(info->c_str(), "Pid:");
  return at ? std::atoi(at + 4) : -1;
}

void kill_by_pidfd(int pidfd) { ::syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0); }

sys::Nanoseconds cpu_of_descendants(int pid) {
  uint64_t ticks = 0;
  for (int child : descendants_of(pid)) ticks += ticks_of(child);
  const int64_t ns_per_tick = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  return sys::Nanoseconds(static_cast<int64_t>(ticks) * ns_per_tick);
}

sys::Nanoseconds waiting_time_of_descendants(int pid) {
  uint64_t sum = 0;
  for (int child : descendants_of(pid)) sum += waited_ns_of(child);
  return sys::Nanoseconds(static_cast<int64_t>(sum));
}

sys::Bytes memory_of_descendants(int pid) {
  uint64_t kilobytes = 0;
  for (int child : descendants_of(pid)) {
    sys::Result<std::string> text = sys::read_file(in_proc(child, "smaps_rollup"), 8192);
    if (text.ok())
      kilobytes += kilobytes_after(*text, "Pss_Anon:") + kilobytes_after(*text, "Pss_Shmem:");
  }
  return sys::Bytes{kilobytes * 1024};
}

unsigned usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) < 0) return 1;
  int count = CPU_COUNT(&set);
  return count > 0 ? static_cast<unsigned>(count) : 1;
}

}  // namespace runtime
