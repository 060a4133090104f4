#include "tools/cli/certify/room.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "sandbox/cgroup/cgroup.h"
#include "sandbox/sys/file.h"
#include "tools/cli/units.h"

namespace cli {
namespace {

// A busy cell of python-numpy has 3.1 MB of its own (docs/measurements.md); those of a host without
// images of the heap have more.
constexpr sys::Bytes kCell = sys::mebibytes(8);
constexpr sys::Bytes kUsual = sys::mebibytes(64);
constexpr uint64_t kUnknown = uint64_t{1} << 62;

std::optional<uint64_t> number_in(std::string_view text) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  if (std::from_chars(text.data(), end, number).ec != std::errc()) return std::nullopt;
  return number;
}

std::optional<uint64_t> number_behind(std::string_view text, std::string_view key) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with(key)) {
      const size_t digit = line.find_first_of("0123456789", key.size());
      return digit == line.npos ? std::nullopt : number_in(line.substr(digit));
    }
    at = end + 1;
  }
  return std::nullopt;
}

std::string text_of_file(const std::string& path) {
  sys::Result<std::string> text = sys::read_file(path, 1 << 16);
  return text ? *std::move(text) : "";
}

// What a group of v2 or v1 has left. Its cache of files is given up when others need the memory.
std::optional<uint64_t> left_in_group(const std::string& group) {
  const bool v2 = number_in(text_of_file(group + "/memory.current")).has_value();
  const auto limit =
      number_in(text_of_file(group + (v2 ? "/memory.max" : "/memory.limit_in_bytes")));
  const auto used =
      number_in(text_of_file(group + (v2 ? "/memory.current" : "/memory.usage_in_bytes")));
  if (!limit || !used) return std::nullopt;
  const std::string stat = text_of_file(group + "/memory.stat");
  const uint64_t cache =
      number_behind(stat, v2 ? "inactive_file " : "total_inactive_file ").value_or(0);
  const uint64_t held = *used - std::min(*used, cache);
  return *limit - std::min(*limit, held);
}

}  // namespace

sys::Bytes need_of_worker(const std::vector<LabelledJob>& corpus) {
  uint64_t sum = 0;
  for (const LabelledJob& each : corpus) sum += std::min(each.job.limits.memory, kUsual).count;
  return {kCell.count + (corpus.empty() ? 0 : sum / corpus.size())};
}

std::string objection_to_loads(std::span<const unsigned> loads, unsigned cpus, sys::Bytes need,
                               sys::Bytes available) {
  const uint64_t load = loads.empty() ? 0 : *std::max_element(loads.begin(), loads.end());
  const uint64_t workers = load * cpus;
  if (workers == 0 || need.count == 0 || workers <= available.count / need.count) return "";
  const uint64_t most = available.count / need.count / cpus;
  std::string text = fmt::format(
      "load {} on {} cores is {} jobs at once, which may need {} of memory ({} each), and {} are "
      "available; ",
      load, cpus, workers, format_size(workers * need.count), format_size(need.count),
      format_size(available.count));
  if (most == 0) return text + "lower limits.memory_mb of the jobs";
  return text + fmt::format("choose --loads up to {}", most);
}

sys::Bytes available_in(std::string_view meminfo) {
  return sys::kibibytes(number_behind(meminfo, "MemAvailable:").value_or(kUnknown >> 10));
}

sys::Bytes available_memory() {
  uint64_t least = available_in(text_of_file("/proc/meminfo")).count;
  const sys::Result<sandbox::CgroupLayout> own = sandbox::detect_own_cgroups();
  if (!own || !own->memory) return {least};
  for (std::string group = own->memory->path; group.size() > 1;
       group = group.substr(0, group.rfind('/'))) {
    least = std::min(least, left_in_group(group).value_or(least));
  }
  return {least};
}

}  // namespace cli
