#pragma once
// Reads other processes for the daemon, through /proc and pidfds. Only cold paths do so: deadlines
// and the making of cells.

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/host/residence.h"
#include "sandbox/sys/units.h"

namespace runtime {

// The process behind a pidfd, as numbered here; -1 when it is gone.
int pid_of_pidfd(int pidfd);
bool kill_by_pidfd(int pidfd);  // false: it has ended, or is not ours to end

// Processes below `pid`, in no order, as numbered here. Where jobs start no processes, the children
// are all there is, and nothing below them is looked at.
enum class Offspring { kChildren, kAll };
std::vector<int> descendants_of(int pid, Offspring offspring);
uint64_t tasks_of(const std::vector<int>& processes);
std::vector<int> threads_of(int pid);

// The process that a thread belongs to; -1 when there is none of that number.
int process_of_thread(int tid);

int parent_of(int pid);  // -1: it is gone

// The time at which it was forked, by the monotonic clock: never earlier than it was and never in
// the future, and late by a tick of /proc/PID/stat (10 ms) at most.
std::optional<sys::Nanoseconds> start_of(int pid);

// The memory that RLIMIT_DATA counts of a process; zero when it cannot be told.
sys::Bytes data_of(int pid);

// CPU time of processes and of those they have waited for (/proc/PID/stat: by 10 ms).
sys::Nanoseconds cpu_of(const std::vector<int>& processes);
// How far the threads of processes have come (schedstat); zeros where that cannot be told.
struct Progress {
  sys::Nanoseconds ran{};     // the sum
  sys::Nanoseconds waited{};  // for a CPU, while ready to run: the longest of any thread
  bool is_ready = false;      // one runs or waits for a CPU
};
// A thread that is not looked at for the first time: so far it had come by then.
struct EarlierProgress {
  int thread = 0;
  sys::Nanoseconds ran{}, waited{};
};
Progress progress_of(const std::vector<int>& processes, const EarlierProgress& before = {});

// One of them has had to wait for a disk: for a page of its memory or for a file (/proc/PID/io).
bool have_met_disk(const std::vector<int>& processes);

// Anonymous and shared memory that they added: a page that several have in common counts once over
// all of them, and page tables beyond the usual (smaps_rollup, Linux 4.14; Pss_Anon, 5.4).
// `reader`: with whose ids to look (sys::FileIdentity).
sys::Bytes memory_of(const std::vector<int>& processes, std::optional<uint32_t> reader);
// Of a process; zeros where that cannot be told (/proc/PID/status).
Residence residence_of(int pid);
// The bytes that open files without a name, which no walk over directories finds, occupy on a
// device.
uint64_t nameless_bytes_of(const std::vector<int>& processes, uint64_t device,
                           std::optional<uint32_t> reader);

// The pipes that they have an end of; no more than `most` are looked for.
uint64_t pipes_of(const std::vector<int>& processes, std::optional<uint32_t> reader, uint64_t most);

// More threads of the machine are ready to run than it has CPUs, the calling one aside
// (/proc/loadavg); false where that cannot be told.
bool are_cpus_crowded();

// CPUs this thread may use.
unsigned usable_cpus();

}  // namespace runtime
