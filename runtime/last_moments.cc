#include "runtime/last_moments.h"

#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "runtime/proc.h"

namespace runtime {

namespace {

// What is left of a small process goes within a third of a millisecond; a larger one may have what
// other reservations leave (GRUB: SCHED_FLAG_RECLAIM). The less is reserved, the more are admitted.
constexpr uint64_t kRuntimeNs = 500'000, kPeriodNs = 4'000'000;

// sched_setattr(2). The kernel's own header (linux/sched/types.h) cannot be had beside <sched.h>.
struct Attributes {
  uint32_t size = sizeof(Attributes);
  uint32_t policy = 0;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime_ns = 0, deadline_ns = 0, period_ns = 0;
};

// Tells whether this thread has been on its CPU without a break since this was made, so that
// whoever may use no other has not been run.
class Stay {
 public:
  bool unbroken() const { return switches_ == switches(); }

 private:
  static long switches() {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw + usage.ru_nivcsw;
  }
  long switches_ = switches();
};

bool has_ended(int pidfd) {
  pollfd ended{pidfd, POLLIN, 0};
  return ::poll(&ended, 1, 0) > 0;
}

bool may_only_use(int pid, int cpu) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return ::sched_getaffinity(pid, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) == 1 &&
         CPU_ISSET(cpu, &allowed);
}

// Only of one that lives: what is reserved for the dead is never given back (sched_dl_overflow in
// the kernel's kernel/sched/deadline.c adds it, and the dead do not die again), and is then missing
// on the whole machine. It cannot die while we are on the only CPU that it may use.
bool reserve(int pid, const Stay& stay) {
  // The class is for threads that may run anywhere: the scheduler admits by the sum over all CPUs.
  cpu_set_t everywhere;
  std::memset(&everywhere, 0xff, sizeof everywhere);
  (void)::sched_setaffinity(pid, sizeof everywhere, &everywhere);
  Attributes wanted;
  wanted.policy = SCHED_DEADLINE;
  wanted.flags = SCHED_FLAG_RESET_ON_FORK | SCHED_FLAG_RECLAIM;
  wanted.runtime_ns = kRuntimeNs;
  wanted.deadline_ns = wanted.period_ns = kPeriodNs;
  return stay.unbroken() && ::syscall(SYS_sched_setattr, pid, &wanted, 0) == 0;
}

// Lets who is about to die (SIGKILL is pending: no instruction of its own is run any more) run
// before others.
void hasten_death(int pid, const Stay& stay) {
  const int here = ::sched_getcpu();
  const bool waits_for_us =
      tasks_of({pid}) == 1 && may_only_use(0, here) && may_only_use(pid, here);
  if (waits_for_us && reserve(pid, stay)) return;
  const sched_param none{};
  for (int tid : threads_of(pid)) (void)::sched_setscheduler(tid, SCHED_OTHER, &none);
}

}  // namespace

std::vector<HeldProcess> hold_processes(int root, const std::vector<int>& processes) {
  const std::unordered_set<int> family(processes.begin(), processes.end());
  std::vector<HeldProcess> held;
  for (int process : processes) {
    // Held by its descriptor and then asked for its parent: a number alone may be another's by now.
    sys::OwnedFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
    if (!pidfd) continue;
    const int parent = parent_of(process);
    if (parent == root || family.contains(parent)) held.push_back({process, std::move(pidfd)});
  }
  return held;
}

bool end_processes(const std::vector<HeldProcess>& processes) {
  const Stay stay;
  std::vector<int> dying;
  for (const HeldProcess& process : processes) {
    if (has_ended(process.pidfd.get())) continue;
    if (kill_by_pidfd(process.pidfd.get())) dying.push_back(process.pid);
  }
  // Never the other way round: one that is raised and not yet killed outranks whoever is to kill
  // it.
  if (::geteuid() == 0) {
    for (int pid : dying) hasten_death(pid, stay);
  }
  return !dying.empty();
}

}  // namespace runtime
