#include "runtime/host/proc.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>

#include "runtime/host/proc_text.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/file.h"
#include "sandbox/sys/identity.h"

namespace runtime {

namespace {

constexpr int kDeepest = 512;  // generations looked at: more than most limits on processes

std::string in_proc(int pid, const std::string& file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

// /proc/PID/task has one more link for each thread (proc_task_getattr in the kernel). Looking so,
// and not into the directory, matters: every name looked up below a process is a dentry that its
// threads take down when they exit, in the lowest scheduling class, while pid 1 spins for them.
uint64_t thread_count_of(int pid) {
  struct stat about {};
  if (::stat(in_proc(pid, "task").c_str(), &about) < 0 || about.st_nlink < 3) return 0;
  return about.st_nlink - 2;
}

void add_descendants(int pid, int depth, Offspring offspring, std::vector<int>& found) {
  if (pid <= 0 || depth > kDeepest) return;
  std::vector<int> children;
  for (int tid : threads_of(pid)) {  // each has children of its own
    sys::Result<std::string> text =
        sys::read_file(in_proc(pid, "task/" + std::to_string(tid) + "/children"), 1 << 20);
    if (!text.ok()) continue;
    for (int child : pids_in(*text)) children.push_back(child);
  }
  for (int child : children) {
    found.push_back(child);
    if (offspring == Offspring::kAll) add_descendants(child, depth + 1, offspring, found);
  }
}

std::string text_of(int pid, const std::string& file, size_t most = 4096) {
  sys::Result<std::string> text = sys::read_file(in_proc(pid, file), most);
  return text.ok() ? std::move(*text) : std::string();
}

uint64_t kilobytes(const std::string& text, std::string_view key) {
  return static_cast<uint64_t>(std::max<int64_t>(0, number_of_line(text, key).value_or(0)));
}

// Bytes of files that are open and have no name any more: no walk over directories finds them.
uint64_t nameless_bytes_of(int pid, uint64_t device) {
  uint64_t sum = 0;
  DIR* directory = ::opendir(in_proc(pid, "fd").c_str());
  if (!directory) return 0;
  while (const dirent* entry = ::readdir(directory)) {
    struct stat about {};
    if (::fstatat(::dirfd(directory), entry->d_name, &about, 0) < 0) continue;
    if (S_ISREG(about.st_mode) && about.st_nlink == 0 && about.st_dev == device) {
      sum += static_cast<uint64_t>(about.st_blocks) * 512;
    }
  }
  ::closedir(directory);
  return sum;
}

void add_pipes_of(int pid, int thread, uint64_t most, std::set<ino_t>& pipes) {
  const std::string files = "task/" + std::to_string(thread) + "/fd";
  DIR* directory = ::opendir(in_proc(pid, files.c_str()).c_str());
  if (!directory) return;
  while (const dirent* entry = ::readdir(directory)) {
    if (pipes.size() >= most) break;
    struct stat about {};
    if (::fstatat(::dirfd(directory), entry->d_name, &about, 0) < 0) continue;
    if (S_ISFIFO(about.st_mode)) pipes.insert(about.st_ino);
  }
  ::closedir(directory);
}

}  // namespace

std::vector<int> threads_of(int pid) {
  if (thread_count_of(pid) <= 1) return {pid};
  std::vector<int> tids;
  DIR* directory = ::opendir(in_proc(pid, "task").c_str());
  if (!directory) return tids;
  while (const dirent* entry = ::readdir(directory)) {
    if (int tid = std::atoi(entry->d_name); tid > 0) tids.push_back(tid);
  }
  ::closedir(directory);
  return tids;
}

int pid_of_pidfd(int pidfd) {
  sys::Result<std::string> info =
      sys::read_file("/proc/self/fdinfo/" + std::to_string(pidfd), 4096);
  return info.ok() ? static_cast<int>(number_of_line(*info, "Pid:").value_or(-1)) : -1;
}

std::vector<int> descendants_of(int pid, Offspring offspring) {
  std::vector<int> found;
  add_descendants(pid, 0, offspring, found);
  return found;
}

uint64_t tasks_of(const std::vector<int>& processes) {
  uint64_t count = 0;
  for (int process : processes) count += thread_count_of(process);
  return count;
}

int process_of_thread(int tid) {
  return static_cast<int>(number_of_line(text_of(tid, "status"), "Tgid:").value_or(-1));
}

int parent_of(int pid) {
  return static_cast<int>(number_of_line(text_of(pid, "status"), "PPid:").value_or(-1));
}

uint64_t nameless_bytes_of(const std::vector<int>& processes, uint64_t device,
                           std::optional<uint32_t> reader) {
  sys::FileIdentity as_job(reader);
  uint64_t sum = 0;
  for (int process : processes) sum += nameless_bytes_of(process, device);
  return sum;
}

uint64_t pipes_of(const std::vector<int>& processes, std::optional<uint32_t> reader,
                  uint64_t most) {
  sys::FileIdentity as_job(reader);
  std::set<ino_t> pipes;
  for (int process : processes) {
    // Threads may have descriptors of their own (unshare, CLONE_FILES).
    for (int thread : threads_of(process)) add_pipes_of(process, thread, most, pipes);
  }
  return pipes.size();
}

bool kill_by_pidfd(int pidfd) {
  return ::syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0) == 0;
}

std::optional<sys::Nanoseconds> start_of(int pid) {
  const std::optional<uint64_t> ticks = start_in_stat(text_of(pid, "stat"));
  if (!ticks) return std::nullopt;
  timespec boot{};
  ::clock_gettime(CLOCK_BOOTTIME, &boot);
  const sys::Nanoseconds since_boot =
      std::chrono::seconds(boot.tv_sec) + sys::Nanoseconds(boot.tv_nsec);
  const int64_t ns_per_tick = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  const sys::Nanoseconds started(static_cast<int64_t>(*ticks + 1) * ns_per_tick);
  const sys::Nanoseconds now = sys::monotonic_now();
  return std::min(now, now - (since_boot - started));  // the tick may not be over
}

sys::Bytes data_of(int pid) { return {kilobytes(text_of(pid, "status"), "VmData:") * 1024}; }

sys::Nanoseconds cpu_of(const std::vector<int>& processes) {
  uint64_t ticks = 0;
  for (int child : processes) {
    ticks += ticks_in_stat(text_of(child, "stat")).value_or(0);
  }
  const int64_t ns_per_tick = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  return sys::Nanoseconds(static_cast<int64_t>(ticks) * ns_per_tick);
}

Progress progress_of(const std::vector<int>& processes) {
  Progress sum;
  for (int process : processes) {
    for (int tid : threads_of(process)) {
      const std::string at = "task/" + std::to_string(tid) + "/";
      const auto times = times_in_schedstat(text_of(process, at + "schedstat"));
      if (!times) continue;
      sum.ran += sys::Nanoseconds(times->ran);
      sum.waited = std::max(sum.waited, sys::Nanoseconds(times->waited));
      sum.is_ready = sum.is_ready || is_ready_in_stat(text_of(process, at + "stat"));
    }
  }
  return sum;
}

bool have_met_disk(const std::vector<int>& processes) {
  return std::any_of(processes.begin(), processes.end(), [](int process) {
    if (disk_faults_in_stat(text_of(process, "stat")) > 0) return true;
    const std::string io = text_of(process, "io");
    return number_of_line(io, "read_bytes:").value_or(0) > 0 ||
           number_of_line(io, "write_bytes:").value_or(0) > 0;
  });
}

sys::Bytes memory_of(const std::vector<int>& processes, std::optional<uint32_t> reader) {
  sys::FileIdentity as_job(reader);
  uint64_t sum = 0;
  for (int child : processes) {
    std::string text = text_of(child, "smaps_rollup", 8192);
    sum += kilobytes(text, "Pss_Anon:") + kilobytes(text, "Pss_Shmem:");
  }
  return sys::Bytes{sum * 1024};
}

unsigned usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) < 0) return 1;
  int count = CPU_COUNT(&set);
  return count > 0 ? static_cast<unsigned>(count) : 1;
}

}  // namespace runtime
