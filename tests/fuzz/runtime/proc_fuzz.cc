// Texts of /proc and of control groups. Jobs choose their own names, and who starts zygo chooses
// the names of groups and mounts.

#include <string>

#include "runtime/host/proc_text.h"
#include "sandbox/cgroup/cgroup.h"
#include "sandbox/sys/result.h"
#include "tests/fuzz/input.h"

namespace {

void process(std::string_view text, std::string_view key) {
  (void)runtime::ticks_in_stat(text);
  (void)runtime::start_in_stat(text);
  (void)runtime::times_in_schedstat(text);
  (void)runtime::is_ready_in_stat(text);
  (void)runtime::ready_in_loadavg(text);
  (void)runtime::number_of_line(text, key);
  const auto pids = runtime::pids_in(text);
  VERIFY(pids.size() <= text.size());
  for (int pid : pids) VERIFY(pid > 0);

  // Whatever a process calls itself, its CPU time is what the kernel wrote behind the name.
  const std::string stat =
      "17 (" + std::string(text) + ") S 1 17 17 0 -1 4194304 100 200 0 0 7 5 3 1 20 0 1 0 5000 1\n";
  VERIFY(runtime::ticks_in_stat(stat) == 16u);
  VERIFY(runtime::start_in_stat(stat) == 5000u);
}

void group(std::string_view text, std::string_view key) {
  (void)sandbox::field_of(text, key);
  const std::string events = std::string(key) + " 12\n";
  const bool plain = key.find('\n') == std::string_view::npos;
  if (plain) VERIFY(sandbox::field_of(events, key) == 12u);
}

void groups(std::string_view mountinfo, std::string_view membership) {
  const auto layout = sandbox::detect_cgroups(mountinfo, membership);
  if (!layout) {
    VERIFY(!layout.error().text().empty());
    return;
  }
  for (const auto& directory : layout->directories()) VERIFY(!directory.path.empty());
  const auto below = layout->below("cell-1");
  VERIFY(below.directories().size() == layout->directories().size());
  for (const auto& directory : below.directories()) VERIFY(directory.path.ends_with("/cell-1"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const std::string_view first = input.up_to('\0');
  const std::string_view second = input.rest();
  process(first, second);
  group(first, second);
  groups(first, second);
  return 0;
}
