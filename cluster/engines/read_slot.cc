// What find_slot() decides on, from the real host.
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "cluster/engines/slot.h"
#include "runtime/host/proc.h"
#include "sandbox/cgroup/cgroup.h"
#include "sandbox/sys/file.h"
#include "sandbox/sys/spawn.h"

extern char** environ;

namespace cluster {

namespace {

constexpr size_t kLargestText = size_t{1} << 20;

std::string text_of(const std::string& path) {
  sys::Result<std::string> text = sys::read_file(path, kLargestText);
  return text ? *std::move(text) : "";
}

Environment environment_of_process() {
  Environment all;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view entry = *each;
    const size_t sign = std::min(entry.find('='), entry.size());
    if (sign < entry.size()) all.emplace(entry.substr(0, sign), entry.substr(sign + 1));
  }
  return all;
}

// HTCondor names the files; both also lie in the job's scratch directory.
std::string ad_of(const Environment& environment, const char* variable, const char* file) {
  if (const auto named = environment.find(variable); named != environment.end()) {
    return text_of(named->second);
  }
  const auto scratch = environment.find("_CONDOR_SCRATCH_DIR");
  return scratch == environment.end() ? "" : text_of(scratch->second + "/" + file);
}

void add_groups(std::vector<GroupTexts>& groups,
                const std::optional<sandbox::CgroupLayout::Controller>& own) {
  if (!own) return;
  // Limits of the groups around it hold, too.
  for (std::string group = own->path; group.size() > 1; group.resize(group.rfind('/'))) {
    GroupTexts texts;
    texts.cpu_max = text_of(group + "/cpu.max");
    texts.cfs_quota_us = text_of(group + "/cpu.cfs_quota_us");
    texts.cfs_period_us = text_of(group + "/cpu.cfs_period_us");
    texts.memory_limit = text_of(group + (own->v2 ? "/memory.max" : "/memory.limit_in_bytes"));
    groups.push_back(std::move(texts));
  }
}

}  // namespace

SlotSources read_slot_sources() {
  SlotSources sources;
  sources.environment = environment_of_process();
  sources.job_ad = ad_of(sources.environment, "_CONDOR_JOB_AD", ".job.ad");
  sources.machine_ad = ad_of(sources.environment, "_CONDOR_MACHINE_AD", ".machine.ad");
  if (const auto own = sandbox::detect_own_cgroups(); own.ok()) {
    add_groups(sources.groups, own->memory);
    if (own->cpu != own->memory) add_groups(sources.groups, own->cpu);
  }
  sources.affinity = runtime::usable_cpus();
  char host[HOST_NAME_MAX + 1] = {};
  if (::gethostname(host, sizeof host - 1) == 0) sources.host = host;
  sources.pid = static_cast<int>(::getpid());
  return sources;
}

Slot read_slot() {
  Slot slot = find_slot(read_slot_sources());
  if (slot.ask_end.empty()) return slot;
  const sys::Result<std::string> answer = [&]() -> sys::Result<std::string> {
    sys::SpawnOutput output = TRY(sys::run_and_read(slot.ask_end));
    return output.status == 0 ? std::move(output.text) : std::string();
  }();
  if (answer) slot.end = end_in_answer(*answer);
  return slot;
}

}  // namespace cluster
