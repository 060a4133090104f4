#pragma once
// HostTrouble: reads what slows the whole machine: time that was stolen from its CPUs, and time for
// which tasks of it waited for disks. One for an engine; cells of all shards ask it, so a look is
// shared by all that ask within kFresh of it: on a large machine one takes a millisecond.
// Thread-safe.

#include <mutex>
#include <string>

#include "sandbox/sys/units.h"

namespace runtime {

class HostTrouble {
 public:
  static constexpr sys::Nanoseconds kFresh = std::chrono::milliseconds(20);

  // Counters since the machine's start; zero where the kernel does not have them.
  struct Reading {
    sys::Nanoseconds at{};  // when they were read
    sys::Nanoseconds stolen{}, disk{};
    bool operator==(const Reading&) const = default;
  };

  HostTrouble() = default;
  HostTrouble(std::string stat, std::string pressure)
      : stat_path_(std::move(stat)), pressure_path_(std::move(pressure)) {}

  // Of this CPU.
  Reading look(unsigned cpu, sys::Nanoseconds now);

 private:
  const std::string stat_path_ = "/proc/stat", pressure_path_ = "/proc/pressure/io";
  std::mutex mutex_;
  sys::Nanoseconds read_at_{};
  std::string stat_, pressure_;
};

}  // namespace runtime
