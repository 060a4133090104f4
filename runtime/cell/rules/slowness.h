#pragma once
// Slowness: whether the machine, and not the program, may be why a job has met its wall deadline,
// beside waiting for a CPU, which RunClock takes off. Two things the scheduler's clocks do not
// show: a CPU that the machine around this one had given to others (stolen time), and disks that
// answer late. Rules without a clock or a kernel.

#include "runtime/job/waiting.h"
#include "sandbox/sys/units.h"

namespace runtime {

// What the counters of the machine have moved by between two looks.
struct Trouble {
  sys::Nanoseconds window{};  // between the looks
  sys::Nanoseconds stolen{};  // of the job's CPU
  sys::Nanoseconds disk{};    // at least one task of the machine waited for a disk
};

// The part of the window above which either counts; as of the wall limit for what is `contended`. A
// limit that a program meets with less to spare is within the band of what the program itself needs
// on one day or another.
constexpr int kTroublePart = 5;
// /proc/stat counts by ticks of 10 ms.
constexpr sys::Nanoseconds kLeastTrouble = std::chrono::milliseconds(30);

// `own`: of the job, until the second look. One that slept all the time wanted no CPU.
bool theft_explains(const Trouble& trouble, const Waiting& own);
// One that computed, or waited for a CPU, for nearly all the time did not wait for a disk.
bool disk_explains(const Trouble& trouble, const Waiting& own);

}  // namespace runtime
