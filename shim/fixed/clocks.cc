// Readings of clocks.

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

#include "shim/fixed/state.h"

using fixed::kSecond;

namespace {

// These are read in the program's own process (vDSO): a bad pointer is a crash there, too.
bool is_read_without_kernel(clockid_t clock) {
  return !fixed::counts_cpu(clock) && clock != CLOCK_REALTIME_ALARM &&
         clock != CLOCK_BOOTTIME_ALARM;
}

}  // namespace

ZYGO_HOOK int clock_gettime(clockid_t clock, timespec* into) noexcept {
  if (fixed::is_on() && fixed::is_known(clock)) {
    if (!is_read_without_kernel(clock)) {
      if (const long error = fixed::try_clock(clock, into); error < 0)
        return static_cast<int>(fixed::with_errno(error));
    }
    *into = fixed::to_timespec(fixed::read(clock));
    return 0;
  }
  ZYGO_NEXT(clock_gettime);
  return real(clock, into);
}

ZYGO_HOOK int gettimeofday(timeval* into, void* zone) noexcept {
  if (!fixed::is_on()) {
    ZYGO_NEXT(gettimeofday);
    return real(into, zone);
  }
  const int64_t ns = fixed::read(CLOCK_REALTIME);
  timeval* volatile const given =
      into;  // the header says that it is none, and the kernel allows it
  if (timeval* const at = given) *at = {ns / kSecond, ns % kSecond / 1000};
  if (zone) *static_cast<struct timezone*>(zone) = {};
  return 0;
}

ZYGO_HOOK time_t time(time_t* into) noexcept {
  if (!fixed::is_on()) {
    ZYGO_NEXT(time);
    return real(into);
  }
  const time_t seconds = fixed::read(CLOCK_REALTIME) / kSecond;
  if (into) *into = seconds;
  return seconds;
}

ZYGO_HOOK int timespec_get(timespec* into, int base) noexcept {
  if (fixed::is_on() && base == TIME_UTC) {
    *into = fixed::to_timespec(fixed::read(CLOCK_REALTIME));
    return base;
  }
  ZYGO_NEXT(timespec_get);
  return real(into, base);
}

ZYGO_HOOK clock_t clock() noexcept {
  if (!fixed::is_on()) {
    ZYGO_NEXT(clock);
    return real();
  }
  return fixed::read(CLOCK_PROCESS_CPUTIME_ID) / (kSecond / CLOCKS_PER_SEC);
}

ZYGO_HOOK clock_t times(tms* into) noexcept {
  if (!fixed::is_on()) {
    ZYGO_NEXT(times);
    return real(into);
  }
  constexpr int64_t kTick = kSecond / 100;  // sysconf(_SC_CLK_TCK) of every Linux
  if (into) *into = {fixed::now(CLOCK_PROCESS_CPUTIME_ID) / kTick, 0, 0, 0};
  return fixed::read(CLOCK_MONOTONIC) / kTick;
}

// Memory is measured here, too.
ZYGO_HOOK int sysinfo(struct sysinfo* into) noexcept {
  const long answer = fixed::raw_call(SYS_sysinfo, reinterpret_cast<long>(into));
  if (answer == 0 && fixed::is_on()) {
    into->uptime = fixed::read(CLOCK_BOOTTIME) / kSecond;
    into->loads[0] = into->loads[1] = into->loads[2] = 0;
    into->procs = 1;
  }
  return static_cast<int>(fixed::with_errno(answer));
}

// Memory is measured; time and what the kernel counts by its own doing are not.
ZYGO_HOOK int getrusage(__rusage_who_t who, rusage* into) noexcept {
  if (!fixed::is_on()) {
    ZYGO_NEXT(getrusage);
    return real(who, into);
  }
  const long answer = fixed::raw_call(SYS_getrusage, who, reinterpret_cast<long>(into));
  if (answer == 0) {
    const int64_t ns = who == RUSAGE_CHILDREN ? 0 : fixed::read(CLOCK_PROCESS_CPUTIME_ID);
    into->ru_utime = {ns / kSecond, ns % kSecond / 1000};
    into->ru_stime = {};
    into->ru_minflt = into->ru_majflt = into->ru_nvcsw = into->ru_nivcsw = 0;
  }
  return static_cast<int>(fixed::with_errno(answer));
}
