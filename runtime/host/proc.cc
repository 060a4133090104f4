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
#include <map>
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

// /proc/PID/task has one more link for each thread (proc_task_getattr in the kernel).
uint64_t thread_count_of(int pid) {
  struct stat about {};
  if (::stat(in_proc(pid, "task").c_str(), &about) < 0 || about.st_nlink < 3) return 0;
  return about.st_nlink - 2;
}

constexpr int kFirstPidOfALap = 300;  // RESERVED_PIDS: after the last number they begin anew here
constexpr int kMostNumbersTried = 8192;

int most_pids() {
  static const int most = [] {
    const sys::Result<std::string> text = sys::read_file("/proc/sys/kernel/pid_max", 64);
    return text.ok() ? std::atoi(text->c_str()) : 0;
  }();
  return most;
}

// tgkill(2) finds a thread before it asks whether the caller may send it anything.
bool is_thread_of(int pid, int tid) {
  return ::syscall(SYS_tgkill, pid, tid, 0) == 0 || errno == EPERM;
}

// The threads of a process, without a look into its directory: they have the numbers that came
// after its own. Empty: some are too far from it.
//
// A look at /proc/PID/task/TID leaves an entry that the thread takes down when it exits.
// Meanwhile the reaper of its process spins for that entry (shrink_dcache_parent() in fs/dcache.c),
// for seconds where the threads get no CPU: they are of the lowest scheduling class and have left
// the autogroup that they shared with the reaper (sched_autogroup_exit_task()). An entry of
// /proc/TID is the thread's own, and nobody waits for it.
std::vector<int> threads_after(int pid) {
  std::vector<int> tids{pid};
  int tid = pid;
  for (int tried = 0; tried < kMostNumbersTried && tids.size() < thread_count_of(pid);) {
    // One look at their count for each hundred numbers.
    for (int i = 0; i < 128; ++i, ++tried) {
      tid = tid + 1 < most_pids() ? tid + 1 : kFirstPidOfALap;
      if (is_thread_of(pid, tid)) tids.push_back(tid);
    }
  }
  return tids.size() >= thread_count_of(pid) ? tids : std::vector<int>();
}

void add_descendants(int pid, int depth, Offspring offspring, std::vector<int>& found) {
  if (pid <= 0 || depth > kDeepest) return;
  std::vector<int> children;
  for (int tid : threads_of(pid)) {  // each has children of its own
    sys::Result<std::string> text =
        sys::read_file(in_proc(tid, "task/" + std::to_string(tid) + "/children"), 1 << 20);
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

// Its fields follow the groups of the process, of which there may be 65,536 (limits.h).
std::string status_of(int pid) { return text_of(pid, "status", size_t{1} << 20); }

uint64_t kilobytes(const std::string& text, std::string_view key) {
  return static_cast<uint64_t>(std::max<int64_t>(0, number_of_line(text, key).value_or(0)));
}

// Calls `look` with each file that the processes have open, until it says false. Each thread is
// looked at: it may have descriptors of its own (clone without CLONE_FILES, unshare), and those of
// a process whose first thread has ended are found by another only.
template <typename Look>
void look_at_open_files(const std::vector<int>& processes, Look look) {
  for (int process : processes) {
    for (int thread : threads_of(process)) {
      DIR* directory = ::opendir(in_proc(thread, "fd").c_str());
      if (!directory) continue;
      bool more = true;
      while (const dirent* entry = more ? ::readdir(directory) : nullptr) {
        struct stat about {};
        if (::fstatat(::dirfd(directory), entry->d_name, &about, 0) == 0) more = look(about);
      }
      ::closedir(directory);
      if (!more) return;
    }
  }
}

// The first thread that lives answers for its process: the one that began it may have ended.
std::string text_of_a_thread(int pid, const char* file) {
  std::string text = text_of(pid, file, 8192);
  if (!text.empty()) return text;
  for (int thread : threads_of(pid)) {
    text = text_of(thread, file, 8192);
    if (!text.empty()) break;
  }
  return text;
}

// An ordinary process has so many bytes of page tables; more are counted.
constexpr uint64_t kUsualTablesKb = 1024;

}  // namespace

std::vector<int> threads_of(int pid) {
  if (thread_count_of(pid) <= 1) return {pid};
  if (std::vector<int> near = threads_after(pid); !near.empty()) return near;
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
  return static_cast<int>(number_of_line(status_of(tid), "Tgid:").value_or(-1));
}

int parent_of(int pid) {
  return static_cast<int>(number_of_line(status_of(pid), "PPid:").value_or(-1));
}

uint64_t nameless_bytes_of(const std::vector<int>& processes, uint64_t device,
                           std::optional<uint32_t> reader) {
  sys::FileIdentity as_job(reader);
  std::map<ino_t, uint64_t> files;
  look_at_open_files(processes, [&](const struct stat& about) {
    if (S_ISREG(about.st_mode) && about.st_nlink == 0 && about.st_dev == device) {
      files[about.st_ino] = static_cast<uint64_t>(about.st_blocks) * 512;
    }
    return true;
  });
  uint64_t sum = 0;
  for (const auto& [inode, bytes] : files) sum += bytes;
  return sum;
}

uint64_t pipes_of(const std::vector<int>& processes, std::optional<uint32_t> reader,
                  uint64_t most) {
  sys::FileIdentity as_job(reader);
  std::set<ino_t> pipes;
  look_at_open_files(processes, [&](const struct stat& about) {
    if (S_ISFIFO(about.st_mode)) pipes.insert(about.st_ino);
    return pipes.size() < most;
  });
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

sys::Bytes data_of(int pid) { return {kilobytes(status_of(pid), "VmData:") * 1024}; }

sys::Nanoseconds cpu_of(const std::vector<int>& processes) {
  uint64_t ticks = 0;
  for (int child : processes) {
    ticks += ticks_in_stat(text_of(child, "stat")).value_or(0);
  }
  const int64_t ns_per_tick = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  return sys::Nanoseconds(static_cast<int64_t>(ticks) * ns_per_tick);
}

Progress progress_of(const std::vector<int>& processes, const EarlierProgress& before) {
  Progress sum;
  for (int process : processes) {
    for (int tid : threads_of(process)) {
      const auto times = times_in_schedstat(text_of(tid, "schedstat"));
      if (!times) continue;
      const EarlierProgress since = tid == before.thread ? before : EarlierProgress{};
      sum.ran += sys::Nanoseconds(times->ran) - since.ran;
      sum.waited = std::max(sum.waited, sys::Nanoseconds(times->waited) - since.waited);
      sum.is_ready = sum.is_ready || is_ready_in_stat(text_of(tid, "stat"));
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
    const std::string text = text_of_a_thread(child, "smaps_rollup");
    sum += kilobytes(text, "Pss_Anon:") + kilobytes(text, "Pss_Shmem:");
    const uint64_t tables = residence_of(child).tables.count / 1024;
    sum += tables - std::min(tables, kUsualTablesKb);
  }
  return sys::Bytes{sum * 1024};
}

// A first thread that has ended has a status without these lines.
Residence residence_of(int pid) {
  const auto has_memory = [](const std::string& text) {
    return number_of_line(text, "VmRSS:").has_value();
  };
  std::string text = status_of(pid);
  if (!has_memory(text)) {
    for (int thread : threads_of(pid)) {
      text = status_of(thread);
      if (has_memory(text)) break;
    }
  }
  const auto bytes = [&text](std::string_view name) {
    return sys::Bytes{kilobytes(text, name) * 1024};
  };
  return {.all = bytes("VmRSS:"),
          .anonymous = bytes("RssAnon:"),
          .files = bytes("RssFile:"),
          .shared = bytes("RssShmem:"),
          .tables = bytes("VmPTE:")};
}

bool are_cpus_crowded() {
  const sys::Result<std::string> text = sys::read_file("/proc/loadavg", 256);
  const std::optional<uint64_t> ready = text.ok() ? ready_in_loadavg(*text) : std::nullopt;
  return ready && *ready > static_cast<uint64_t>(::sysconf(_SC_NPROCESSORS_ONLN)) + 1;
}

unsigned usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) < 0) return 1;
  int count = CPU_COUNT(&set);
  return count > 0 ? static_cast<unsigned>(count) : 1;
}

}  // namespace runtime
