#include "runtime/cell/terminate.h"

#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "runtime/host/proc.h"

namespace runtime {

namespace {

// The rest of a small process goes within a third of a millisecond; a larger one may use the time
// that others leave (GRUB: SCHED_FLAG_RECLAIM). Smaller reservations let more of them be admitted.
constexpr uint64_t kRuntimeNs = 500'000, kPeriodNs = 4'000'000;

// More than these at once only get in each other's way as SCHED_DEADLINE.
constexpr size_t kFew = 2;
constexpr size_t kRaisedPerTurn = 16;

// sched_setattr(2). The kernel's own header (linux/sched/types.h) cannot be had beside <sched.h>.
struct Attributes {
  uint32_t size = sizeof(Attributes);
  uint32_t policy = 0;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime_ns = 0, deadline_ns = 0, period_ns = 0;
};

bool may_only_use(int pid, int cpu) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return ::sched_getaffinity(pid, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) == 1 &&
         CPU_ISSET(cpu, &allowed);
}

// The process must live: time reserved for a dead one is never given back (sched_dl_overflow in the
// kernel's kernel/sched/deadline.c adds it, and the dead do not die again), and is then missing on
// the whole machine. It cannot die while we are on the only CPU that it may use.
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

// Tells whether a process has one thread only, which waits for the very CPU that we are on.
bool waits_for_us(int pid) {
  const int here = ::sched_getcpu();
  return tasks_of({pid}) == 1 && may_only_use(0, here) && may_only_use(pid, here);
}

// Lets who is about to die (SIGKILL is pending: no instruction of its own is run any more) run
// before those that compute.
void raise_to_usual(int pid) {
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

bool has_ended(const HeldProcess& process) {
  pollfd ended{process.pidfd.get(), POLLIN, 0};
  return ::poll(&ended, 1, 0) > 0;
}

long Stay::switches() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw + usage.ru_nivcsw;
}

Terminator::Terminator(Loop& loop) : behind_(loop, [this] { go_on(); }) {}

bool Terminator::end(std::vector<HeldProcess> processes) {
  if (dying_.empty()) stay_ = Stay();
  bool any = false;
  for (HeldProcess& process : processes) {
    if (has_ended(process) || !kill_by_pidfd(process.pidfd.get())) continue;
    any = true;
    dying_.push_back(std::move(process));
  }
  crowd_ |= dying_.size() > kFew;
  if (any) behind_.start();
  return any;
}

void Terminator::afterwards(std::function<void()> work) {
  work_.push_back(std::move(work));
  behind_.start();
}

void Terminator::go_on() {
  for (const auto& work : std::exchange(work_, {})) work();
  raise();
}

// Not all at once: somebody else's deadline may pass meanwhile.
void Terminator::raise() {
  const size_t count = std::min(dying_.size(), kRaisedPerTurn);
  for (size_t i = 0; i < count && ::geteuid() == 0; ++i) {
    const HeldProcess& process = dying_[i];
    if (has_ended(process)) continue;
    if (crowd_ || !waits_for_us(process.pid) || !reserve(process.pid, stay_))
      raise_to_usual(process.pid);
  }
  dying_.erase(dying_.begin(), std::next(dying_.begin(), static_cast<ptrdiff_t>(count)));
  if (dying_.empty()) {
    crowd_ = false;
  } else {
    behind_.start();
  }
}

}  // namespace runtime
