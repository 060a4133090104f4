// The group of one cell: files opened once, figures read while jobs run.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "sandbox/cgroup/cgroup.h"
#include "sandbox/sys/file.h"

namespace sandbox {

using sys::Bytes;
using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

Result<void> outcome_of(int error, std::string_view file, const std::string& cell) {
  if (error == 0) return {};
  return Error::from_errno("write " + std::string(file) + " of " + cell, error);
}

Leftovers leftovers_in(const CgroupLayout::Controller& group) {
  return group.v2 ? Leftovers::kKilled : Leftovers::kSpared;
}

std::optional<Bytes> as_bytes(std::optional<uint64_t> count) {
  if (!count) return std::nullopt;
  return Bytes{*count};
}

}  // namespace

Result<CellCgroup> CellCgroup::create(const CgroupRoot& root, const std::string& name) {
  if (name.empty() || name == "daemon" || name.front() == '.' || name.find('/') != name.npos) {
    return Error::because("not a name for a group: " + name);
  }
  CellCgroup cell;
  cell.name_ = name;
  CgroupLayout layout = root.layout().below(name);
  for (const CgroupLayout::Controller& each : layout.directories()) {
    cell.groups_.push_back(TRY(GroupDirectory::create(each.path, leftovers_in(each))));
  }
  TRY(cell.open_files(layout));
  return cell;
}

Result<CellCgroup> CellCgroup::adopt(const CgroupLayout& layout, std::string name) {
  CellCgroup cell;
  cell.name_ = std::move(name);
  for (const CgroupLayout::Controller& each : layout.directories()) {
    cell.groups_.push_back(GroupDirectory::adopt(each.path, leftovers_in(each)));
  }
  TRY(cell.open_files(layout));
  return cell;
}

Result<void> CellCgroup::open_files(const CgroupLayout& layout) {
  for (const CgroupLayout::Controller& each : layout.directories()) {
    const char* door = each.v2 ? "/cgroup.procs" : "/tasks";
    joins_.push_back(TRY(sys::open(each.path + door, O_WRONLY)));
    if (each.v2) v2_directory_ = TRY(sys::open(each.path, O_RDONLY | O_DIRECTORY));
  }
  if (layout.memory) TRY(open_memory(*layout.memory));
  if (layout.pids) TRY(open_pids(*layout.pids));
  if (layout.cpuacct) TRY(open_cpuacct(*layout.cpuacct));
  if (layout.cpu) {
    layers_ = layers_.with(Layer::kCgroupCpu);
    cpu_idle_ = ControlFile::open_if_any(layout.cpu->path, "cpu.idle", O_WRONLY);
  }
  return {};
}

Result<void> CellCgroup::open_memory(const CgroupLayout::Controller& group) {
  const std::string& path = group.path;
  memory_v2_ = group.v2;
  memory_path_ = path;
  if (group.v2) {
    memory_limit_ = TRY(ControlFile::open(path, "memory.max", O_WRONLY));
    memory_usage_ = TRY(ControlFile::open(path, "memory.current", O_RDONLY));
    memory_events_ = TRY(ControlFile::open(path, "memory.events", O_RDONLY));  // nobody is below
    // memory.peak needs Linux 5.19; since 6.12 a write restarts it for this descriptor alone.
    memory_peak_ = ControlFile::open_if_any(path, "memory.peak", O_RDWR);
    peak_restarts_ = static_cast<bool>(memory_peak_);
    if (!memory_peak_) memory_peak_ = ControlFile::open_if_any(path, "memory.peak", O_RDONLY);
    // Absent without swap in the kernel.
    (void)sys::write_control(path + "/memory.swap.max", "0");
  } else {
    memory_limit_ = TRY(ControlFile::open(path, "memory.limit_in_bytes", O_WRONLY));
    memory_usage_ = TRY(ControlFile::open(path, "memory.usage_in_bytes", O_RDONLY));
    memory_events_ = TRY(ControlFile::open(path, "memory.oom_control", O_RDONLY));
    memory_peak_ = TRY(ControlFile::open(path, "memory.max_usage_in_bytes", O_RDWR));
    peak_restarts_ = true;
    memsw_limit_ = ControlFile::open_if_any(path, "memory.memsw.limit_in_bytes", O_WRONLY);
    // Without swap accounting a limit on swap is not to be had; the next best is not to swap.
    if (!memsw_limit_) (void)sys::write_control(path + "/memory.swappiness", "0");
  }
  layers_ = layers_.with(Layer::kCgroupMemory);
  return {};
}

Result<void> CellCgroup::open_pids(const CgroupLayout::Controller& group) {
  pids_path_ = group.path;
  pids_limit_ = TRY(ControlFile::open(group.path, "pids.max", O_WRONLY));
  pids_current_ = TRY(ControlFile::open(group.path, "pids.current", O_RDONLY));
  pids_events_ = TRY(ControlFile::open(group.path, "pids.events", O_RDONLY));
  layers_ = layers_.with(Layer::kCgroupPids);
  return {};
}

Result<void> CellCgroup::open_cpuacct(const CgroupLayout::Controller& group) {
  cpuacct_v2_ = group.v2;
  cpu_usage_ =
      TRY(ControlFile::open(group.path, group.v2 ? "cpu.stat" : "cpuacct.usage", O_RDONLY));
  return {};
}

Layers CellCgroup::layers() const { return layers_; }

std::vector<int> CellCgroup::join_fds() const {
  std::vector<int> fds;
  for (const OwnedFd& each : joins_) fds.push_back(each.get());
  return fds;
}

Result<void> CellCgroup::set_memory_limit(Bytes limit) {
  if (!memory_limit_) return Error::because("no memory group is in force for " + name_);
  if (memory_v2_) return set_memory_limit_v2(limit);

  constexpr std::string_view kLimit = "memory.limit_in_bytes";
  constexpr std::string_view kMemsw = "memory.memsw.limit_in_bytes";
  if (!memsw_limit_) return outcome_of(memory_limit_.write(limit.count), kLimit, name_);
  // The kernel refuses memory > memory + swap at every moment, so the order depends on the way.
  bool raising = limit.count > memsw_set_;
  if (!raising) TRY(outcome_of(memory_limit_.write(limit.count), kLimit, name_));
  TRY(outcome_of(memsw_limit_.write(limit.count), kMemsw, name_));
  memsw_set_ = limit.count;
  if (raising) TRY(outcome_of(memory_limit_.write(limit.count), kLimit, name_));
  return {};
}

// A memory.max below what is in use makes the kernel kill at once, and with no job about, the one
// to die is the cell's pid 1. memory.high only reclaims; nobody runs in the cell meanwhile who
// could be slowed down by it.
Result<void> CellCgroup::set_memory_limit_v2(Bytes limit) {
  if (usage().value_or(Bytes{0}).count > limit.count) {
    std::string high = memory_path_ + "/memory.high";
    TRY(sys::write_control(high, std::to_string(limit.count)));
    uint64_t left = usage().value_or(Bytes{0}).count;
    TRY(sys::write_control(high, "max"));
    if (left > limit.count) return outcome_of(EBUSY, "memory.max", name_);
  }
  return outcome_of(memory_limit_.write(limit.count), "memory.max", name_);
}

Result<void> CellCgroup::set_pids_limit(uint64_t count) {
  if (!pids_limit_) return Error::because("no pids group is in force for " + name_);
  return outcome_of(pids_limit_.write(count), "pids.max", name_);
}

bool CellCgroup::reset_peak() { return peak_restarts_ && memory_peak_.write(0) == 0; }

std::optional<Bytes> CellCgroup::usage() const { return as_bytes(memory_usage_.number()); }

std::optional<Bytes> CellCgroup::peak() const { return as_bytes(memory_peak_.number()); }

std::optional<uint64_t> CellCgroup::oom_kills() const {
  std::optional<uint64_t> kills = memory_events_.field("oom_kill");  // for whatever reason
  if (!memory_v2_ || !kills || *kills == 0) return kills;
  // Unlike the kills, this is counted where the limit is that was in the way. (v1's failcnt would
  // be the same, but stays 0 on recent kernels.)
  return std::min(*kills, memory_events_.field("oom").value_or(*kills));
}

std::optional<uint64_t> CellCgroup::foreign_oom_kills() const {
  std::optional<uint64_t> kills = memory_events_.field("oom_kill");
  if (!kills) return std::nullopt;
  return *kills - std::min(*kills, oom_kills().value_or(*kills));
}

std::optional<uint64_t> CellCgroup::pids_refused() const { return pids_events_.field("max"); }

std::optional<bool> CellCgroup::reached_pids_limit(uint64_t count) const {
  const ControlFile peak = ControlFile::open_if_any(pids_path_, "pids.peak", O_RDONLY);
  const std::optional<uint64_t> most = peak ? peak.number() : std::nullopt;
  if (!most) return std::nullopt;
  return *most >= count;
}

std::optional<uint64_t> CellCgroup::pids() const { return pids_current_.number(); }

std::optional<sys::Nanoseconds> CellCgroup::cpu_usage() const {
  std::optional<uint64_t> used = cpuacct_v2_ ? cpu_usage_.field("usage_usec") : cpu_usage_.number();
  if (!used) return std::nullopt;
  return sys::Nanoseconds(static_cast<int64_t>(cpuacct_v2_ ? *used * 1000 : *used));
}

Result<void> CellCgroup::remove() {
  while (!groups_.empty()) {
    TRY(groups_.back().remove());
    groups_.pop_back();
  }
  return {};
}

}  // namespace sandbox
