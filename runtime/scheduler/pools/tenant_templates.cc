#include "runtime/scheduler/pools/tenant_templates.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "sandbox/cgroup/cgroup.h"
#include "sandbox/sys/file.h"

namespace runtime {

namespace {

// An idle cell or two are included. A template of Python alone, or of another language, takes less.
constexpr uint64_t kTemplateBytes = uint64_t{64} << 20;
constexpr size_t kFewest = 8, kMost = 256;

// The memory limit of this group of v1 or v2; none: it has no limit, or is the root.
std::optional<uint64_t> limit_of(const std::string& group) {
  for (const char* name : {"/memory.max", "/memory.limit_in_bytes"}) {
    const sys::Result<std::string> text = sys::read_file(group + name);
    uint64_t limit = 0;
    if (!text) continue;
    if (std::from_chars(text->data(), text->data() + text->size(), limit).ec == std::errc())
      return limit;
  }
  return std::nullopt;
}

uint64_t memory_for_us() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  uint64_t least = pages > 0 && page > 0
                       ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page)
                       : uint64_t{1} << 30;
  const sys::Result<sandbox::CgroupLayout> own = sandbox::detect_own_cgroups();
  if (!own || !own->memory) return least;
  // Limits of the groups around it hold, too.
  for (std::string group = own->memory->path; group.size() > 1;
       group = group.substr(0, group.rfind('/'))) {
    if (const auto limit = limit_of(group)) least = std::min(least, *limit);
  }
  return least;
}

}  // namespace

std::optional<size_t> next_to_leave(const std::vector<TenantTemplate>& held,
                                    const std::string& newcomer) {
  std::map<std::string, size_t> counts = {{newcomer, 1}};
  for (const TenantTemplate& each : held) ++counts[each.tenant];
  std::optional<size_t> best;
  for (size_t i = 0; i < held.size(); ++i) {
    if (held[i].busy) continue;
    const size_t count = counts[held[i].tenant];
    const size_t most = best ? counts[held[*best].tenant] : 0;
    if (!best || count > most || (count == most && held[i].used < held[*best].used)) best = i;
  }
  return best;
}

size_t affordable_templates() {
  return std::clamp<size_t>(memory_for_us() / 4 / kTemplateBytes, kFewest, kMost);
}

}  // namespace runtime
