#include "runtime/host/host_trouble.h"

#include <unistd.h>

#include "runtime/host/proc_text.h"
#include "sandbox/sys/file.h"

namespace runtime {

using sys::Nanoseconds;

namespace {

// The lines of CPUs come first; a kernel has 8192 of them at most.
constexpr size_t kMostText = size_t{1} << 20;

std::string text_of(const std::string& path) {
  sys::Result<std::string> text = sys::read_file(path, kMostText);
  return text.ok() ? std::move(*text) : std::string();
}

}  // namespace

HostTrouble::Reading HostTrouble::look(unsigned cpu, Nanoseconds now) {
  std::lock_guard lock(mutex_);
  if (read_at_ == Nanoseconds() || now - read_at_ >= kFresh) {
    stat_ = text_of(stat_path_);
    pressure_ = text_of(pressure_path_);
    read_at_ = now;
  }
  const int64_t ns_per_tick = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  const auto ticks = static_cast<int64_t>(stolen_in_stat(stat_, cpu).value_or(0));
  const auto stalled = static_cast<int64_t>(stalled_in_pressure(pressure_).value_or(0));
  return {read_at_, Nanoseconds(ticks * ns_per_tick), std::chrono::microseconds(stalled)};
}

}  // namespace runtime
