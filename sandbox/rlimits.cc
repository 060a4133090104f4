#include "sandbox/rlimits.h"

#include <sys/resource.h>

#include <cerrno>

namespace sandbox {

namespace {

int lower(int resource, uint64_t wanted) {
  // RLIM_INFINITY is the largest value, so the smaller number is the stricter limit.
  static_assert(RLIM_INFINITY == UINT64_MAX);
  const auto which = static_cast<__rlimit_resource>(resource);
  const rlimit next{.rlim_cur = wanted, .rlim_max = wanted};
  if (::setrlimit(which, &next) == 0) return 0;
  if (errno != EPERM) return errno;
  // A hard limit is never raised: here it is the stricter one.
  rlimit now{};
  if (::getrlimit(which, &now) < 0) return errno;
  now.rlim_cur = now.rlim_max;
  return ::setrlimit(which, &now) == 0 ? 0 : errno;
}

}  // namespace

int apply_rlimits(const Rlimits& limits) {
  if (int error = lower(RLIMIT_CORE, limits.core.count)) return error;
  if (int error = lower(RLIMIT_NOFILE, limits.open_files)) return error;
  if (int error = lower(RLIMIT_MEMLOCK, limits.memlock.count)) return error;
  if (int error = lower(RLIMIT_SIGPENDING, limits.pending_signals)) return error;
  if (limits.processes) {
    if (int error = lower(RLIMIT_NPROC, *limits.processes)) return error;
  }
  if (limits.file_size) {
    if (int error = lower(RLIMIT_FSIZE, limits.file_size->count)) return error;
  }
  if (limits.data) {
    if (int error = lower(RLIMIT_DATA, limits.data->count)) return error;
  }
  if (limits.stack) {
    if (int error = lower(RLIMIT_STACK, limits.stack->count)) return error;
  }
  if (limits.cpu_seconds) {
    if (int error = lower(RLIMIT_CPU, *limits.cpu_seconds)) return error;
  }
  return 0;
}

int apply_rlimits(const ProgramRlimits& limits) {
  if (limits.file_size) {
    if (int error = lower(RLIMIT_FSIZE, limits.file_size->count)) return error;
  }
  if (limits.stack) {
    if (int error = lower(RLIMIT_STACK, limits.stack->count)) return error;
  }
  if (limits.address_space) {
    if (int error = lower(RLIMIT_AS, limits.address_space->count)) return error;
  }
  return 0;
}

}  // namespace sandbox
