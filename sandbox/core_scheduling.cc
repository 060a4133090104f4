#include "sandbox/core_scheduling.h"

#include <sys/prctl.h>

#include <cerrno>

// <linux/prctl.h> defines these since 5.14.
#ifndef PR_SCHED_CORE
#define PR_SCHED_CORE 62
#define PR_SCHED_CORE_GET 0
#define PR_SCHED_CORE_CREATE 1
#endif

namespace sandbox {

namespace {
constexpr unsigned long kThisThread = 0;
constexpr unsigned long kScopeThread = 0;  // PR_SCHED_CORE_SCOPE_THREAD
}  // namespace

int make_core_cookie() {
  return ::prctl(PR_SCHED_CORE, PR_SCHED_CORE_CREATE, kThisThread, kScopeThread, 0UL) < 0 ? errno
                                                                                          : 0;
}

unsigned long long core_cookie() {
  unsigned long long cookie = 0;
  if (::prctl(PR_SCHED_CORE, PR_SCHED_CORE_GET, kThisThread, kScopeThread, &cookie) < 0) return 0;
  return cookie;
}

}  // namespace sandbox
