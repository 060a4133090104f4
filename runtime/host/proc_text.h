#pragma once
// The texts of /proc that the daemon reads about processes, taken apart. A job chooses its own name
// and so a part of /proc/PID/stat; whatever has another form than proc(5) gives nothing. Pure.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace runtime {

// /proc/PID/stat: clock ticks of the process, living and dead threads, and of the children it has
// waited for.
std::optional<uint64_t> ticks_in_stat(std::string_view text);

// The same: clock ticks from the machine's start until the process was forked.
std::optional<uint64_t> start_in_stat(std::string_view text);

// /proc/PID/task/TID/children: positive numbers between blanks, up to the first thing that is none.
std::vector<int> pids_in(std::string_view text);

// The same: whether the thread runs or waits for a CPU.
bool is_ready_in_stat(std::string_view text);

// /proc/PID/task/TID/schedstat, in nanoseconds: on a CPU; and ready to run without one, up to the
// moment when it had one last.
struct CpuTimes {
  uint64_t ran = 0, waited = 0;
};
std::optional<CpuTimes> times_in_schedstat(std::string_view text);

// The same: times that the process, its living threads, or children that it has waited for, met a
// page that had to be read from a disk.
uint64_t disk_faults_in_stat(std::string_view text);

// /proc/stat: clock ticks in which the machine around this one had a CPU for others, while it was
// wanted here.
std::optional<uint64_t> stolen_in_stat(std::string_view text, unsigned cpu);

// /proc/loadavg: threads of the machine that run or wait for a CPU.
std::optional<uint64_t> ready_in_loadavg(std::string_view text);

// /proc/pressure/io: microseconds in which at least one task of the machine waited for a disk.
std::optional<uint64_t> stalled_in_pressure(std::string_view text);

// The number of the line that begins with `key`, such as "Pss_Anon:" of smaps_rollup (in KiB) or
// "Pid:" of fdinfo.
std::optional<int64_t> number_of_line(std::string_view text, std::string_view key);

}  // namespace runtime
