#pragma once
// The slot that a batch engine gave to a pilot: which engine it is, what the pilot is called there,
// how many cores and how much memory it has, and when it ends. `zygo pilot` asks once, before it
// confines itself: read_slot_sources() looks at the real environment, ads and control groups, and
// find_slot() decides on them without a kernel.

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/units.h"

namespace cluster {

enum class Engine { kNone, kSlurm, kHtcondor, kKubernetes, kSsh };
std::string_view name_of(Engine engine);  // "none", "slurm", "htcondor", "kubernetes", "ssh"
std::optional<Engine> engine_of(std::string_view name);

using Environment = std::map<std::string, std::string, std::less<>>;
using EpochTime = std::chrono::sys_seconds;

// The limits that one control group states, as its files read; empty where there is no such file.
struct GroupTexts {
  std::string cpu_max = {};                           // v2
  std::string cfs_quota_us = {}, cfs_period_us = {};  // v1
  std::string memory_limit = {};                      // memory.max, or memory.limit_in_bytes
};

struct SlotSources {
  Environment environment = {};
  std::string job_ad = {}, machine_ad = {};  // of HTCondor: lines `Name = value`
  std::vector<GroupTexts> groups = {};       // our own and those around it
  unsigned affinity = 1;                     // CPUs that this thread may use
  std::string host = {};
  int pid = 0;
};

struct Slot {
  Engine engine = Engine::kNone;
  std::string name;                       // letters, digits, '.', '_' and '-'
  unsigned cpus = 1;                      // whole cores: the least of all that limit them
  std::optional<sys::Bytes> memory = {};  // the least of all that limit it; none: the host's
  std::optional<EpochTime> end = {};      // when the engine ends the slot, as far as it tells
  // The program that tells the end, where the environment does not: run it once, and read its
  // answer with end_in_answer(). Empty: nothing to ask.
  std::vector<std::string> ask_end = {};
};

Slot find_slot(const SlotSources& sources);
std::optional<EpochTime> end_in_answer(std::string_view answer);

SlotSources read_slot_sources();
// All of it: read_slot_sources(), find_slot() and, where it must be asked for, the end. Starts a
// program, so it is called before the process confines itself; takes ten seconds at most.
Slot read_slot();

}  // namespace cluster
