#pragma once
// Limits: what a job may use; and the one table of all limits. The fields of jobs and docs/jobs.md,
// the JSON schema, the options of `zygo run` and the limits of compilers are made from the table. A
// new limit is a member, a row, and whoever enforces and judges it.

#include <cstdint>
#include <string_view>
#include <variant>

#include "sandbox/sys/units.h"

namespace runtime {

struct Limits {
  sys::Milliseconds wall{10000};
  sys::Milliseconds cpu{5000};
  sys::Bytes memory = sys::mebibytes(512);  // what the job adds, not what it shares
  uint32_t pids = 64;                       // processes and threads, the first one included
  sys::Bytes out = sys::kibibytes(4096);
  sys::Bytes err = sys::kibibytes(1024);
  sys::Bytes value = sys::kibibytes(16384);
  sys::Bytes disk = sys::mebibytes(64);
  sys::Bytes file{0};     // of each file of the scratch; 0: only the scratch bounds it
  uint32_t files = 4096;  // inodes of the scratch
  uint32_t open_files = 256;
  sys::Bytes outputs = sys::kibibytes(16384);  // of the files that are collected, together
  sys::Bytes stack{0};  // of each program that is executed; 0: the host's usual one
  bool operator==(const Limits&) const = default;
};

struct LimitRule {
  using Amount = std::variant<sys::Milliseconds, sys::Bytes, uint32_t>;
  using Member =
      std::variant<sys::Milliseconds Limits::*, sys::Bytes Limits::*, uint32_t Limits::*>;

  std::string_view path;  // the field of a job; "_ms", "_kb" or "_mb" at its end is the unit
  Member member;
  int64_t min = 0, max = 0;  // in that unit
  std::string_view meaning;
  bool of_compilers = false;  // a language may set it for its compiler, too
  // The option of `zygo run` that sets it, and its help. Limits may share an option.
  std::string_view option = {}, help = {};
  bool finer_option = false;  // the option may say less than one unit

  constexpr std::string_view name() const { return path.substr(path.find('.') + 1); }
  constexpr std::string_view unit() const {
    const size_t end = path.rfind('_');
    const std::string_view last = end == path.npos ? "" : path.substr(end + 1);
    return last == "ms" || last == "kb" || last == "mb" ? last : "";
  }
  int64_t get(const Limits& limits) const;  // in the unit, rounded down
  void set(Limits& limits, int64_t value) const;
  // `amount` is of the member's type.
  void assign(Limits& limits, const Amount& amount) const;
  Amount amount_in(const Limits& limits) const;

 private:
  constexpr unsigned shift() const { return unit() == "kb" ? 10 : unit() == "mb" ? 20 : 0; }
};

inline constexpr int64_t kDayMs = 86'400'000;
inline constexpr int64_t kTibMb = int64_t{1} << 20;
inline constexpr int64_t kGibKb = int64_t{1} << 20;

inline constexpr LimitRule kLimits[] = {
    {.path = "limits.wall_ms",
     .member = &Limits::wall,
     .min = 1,
     .max = kDayMs,
     .meaning = "Time from start to end, without waiting for a CPU.",
     .of_compilers = true,
     .option = "--wall",
     .help = "Wall clock limit, e.g. 2s or 500ms"},
    {.path = "limits.cpu_ms",
     .member = &Limits::cpu,
     .min = 1,
     .max = kDayMs,
     .meaning = "CPU time of all its threads and processes.",
     .of_compilers = true,
     .option = "--cpu",
     .help = "CPU time limit"},
    {.path = "limits.memory_mb",
     .member = &Limits::memory,
     .min = 4,
     .max = kTibMb,
     .meaning = "Memory that the job adds; memory that it shares with the zygote does not count.",
     .of_compilers = true,
     .option = "--memory",
     .help = "Memory limit, e.g. 256M"},
    {.path = "limits.pids",
     .member = &Limits::pids,
     .min = 1,
     .max = 32768,
     .meaning = "Processes and threads, the first one included.",
     .of_compilers = true,
     .option = "--pids",
     .help = "Processes and threads"},
    {.path = "limits.stdout_kb",
     .member = &Limits::out,
     .min = 1,
     .max = kGibKb,
     .meaning = "Bytes of standard output.",
     .option = "--output",
     .help = "Limit of stdout and of stderr, each, e.g. 64K; bare is bytes",
     .finer_option = true},
    {.path = "limits.stderr_kb",
     .member = &Limits::err,
     .min = 1,
     .max = kGibKb,
     .meaning = "Bytes of standard error.",
     .option = "--output",
     .help = "",
     .finer_option = true},
    {.path = "limits.value_kb",
     .member = &Limits::value,
     .min = 1,
     .max = kGibKb,
     .meaning = "Call mode: the encoded value."},
    {.path = "limits.disk_mb",
     .member = &Limits::disk,
     .min = 1,
     .max = kTibMb,
     .meaning = "Scratch files.",
     .of_compilers = true,
     .option = "--disk",
     .help = "Size of the scratch directory"},
    {.path = "limits.file_mb",
     .member = &Limits::file,
     .min = 0,
     .max = kTibMb,
     .meaning = "Each file that the program writes; 0: no limit but `disk_mb`."},
    {.path = "limits.files",
     .member = &Limits::files,
     .min = 16,
     .max = 10'000'000,
     .meaning = "Files and directories of the scratch (inodes).",
     .of_compilers = true},
    {.path = "limits.open_files",
     .member = &Limits::open_files,
     .min = 16,
     .max = 1 << 20,
     .meaning = "Descriptors of one process."},
    {.path = "limits.stack_mb",
     .member = &Limits::stack,
     .min = 0,
     .max = kTibMb,
     .meaning = "Stack of a program that is executed, and so how deep it may recurse; 0: the usual "
                "one of the host (8). The used part counts as memory."},
    {.path = "limits.outputs_kb",
     .member = &Limits::outputs,
     .min = 0,
     .max = kGibKb,
     .meaning = "All files that `outputs` collects, together; one that does not fit is refused by "
                "name."},
};

// `name`: "cpu_ms". There must be one.
constexpr const LimitRule& limit_named(std::string_view name) {
  const LimitRule* rule = kLimits;
  while (rule->name() != name) ++rule;
  return *rule;
}

}  // namespace runtime
