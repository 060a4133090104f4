#include "shim/borrow/holder_process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "sandbox/sys/userfault.h"
#include "shim/borrow/address_space.h"
#include "shim/borrow/parked.h"
#include "shim/heap/memory_map.h"
#include "shim/program.h"
#include "shim/rseq.h"

#ifndef SYS_mseal
#define SYS_mseal 462
#endif

namespace shim::borrow {
namespace {

constexpr int kCannot = 3;  // exit status: this kernel lacks something

// A sealed area that has grown cannot be made smaller, so the stack has its usual size from the
// start, and a job's never becomes larger.
constexpr rlim_t kUsualStack = 8 << 20;

// A process that has changed its uid finds its own files in /proc to be root's, unless it is
// dumpable; nobody else is in the cell yet.
bool open_own_proc() {
  if (::prctl(PR_SET_DUMPABLE, 1) < 0) return false;
  const auto open = [](const char* name, int flags) {
    return ::openat(kProcFd, name, flags | O_CLOEXEC);
  };
  return place(open("self/pagemap", O_RDONLY), kFdHolderPagemap) &&
         place(open("self/maps", O_RDONLY), kFdHolderMaps) &&
         place(open("self/smaps", O_RDONLY), kFdHolderAreas) &&
         place(open("self/mem", O_RDONLY), kFdHolderMemory) &&
         place(open("self/clear_refs", O_WRONLY), kFdHolderPeak);
}

bool seal(const Area& area) {
  return ::syscall(SYS_mseal, area.begin, area.end - area.begin, 0UL) == 0;
}

// The kernel lets a stack grow to wherever it is touched, up to its limit (getrlimit(2)).
bool grow_stack(const MemoryMap& map) {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_STACK, &limit) < 0) return false;
  const uintptr_t size = std::min(limit.rlim_cur, kUsualStack) & ~(kPageBytes - 1);
  for (const Area& area : map) {
    if (!area.is_stack) continue;
    if (area.end - area.begin >= size) return true;
    char* lowest = reinterpret_cast<char*>(area.end - size);
    *reinterpret_cast<volatile char*>(lowest) = 0;
    return ::madvise(lowest, kPageBytes, MADV_DONTNEED) == 0;
  }
  return false;
}

// Where writes are not noticed, a page that nobody has written to must be no file's for ever: the
// kernel would put many of them together to a large one (khugepaged), with nobody's fault.
bool prepare_for_search(bool tracks) {
  if (tracks) return place(sys::open_write_tracking(), kFdTracking);
  return ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0;
}

bool track_and_seal(bool tracks) {
  if (!prepare_for_search(tracks)) return false;
  MemoryMap* map = MemoryMap::create();
  bool done = map && map->read() && grow_stack(*map) && map->read();
  for (const Area* area = map ? map->begin() : nullptr; done && area != map->end(); ++area) {
    if (area->begin == reinterpret_cast<uintptr_t>(map) || area->end > end_of_addresses()) continue;
    const bool changes = area->is_private && (area->prot & PROT_WRITE);
    done = (!tracks || !changes || sys::track_writes(kFdTracking, area->begin, area->end)) &&
           seal(*area);
  }
  if (map) map->destroy();
  return done;
}

void give_up_answer(Cell& own) {
  if (::munmap(own.answer, own.answer_bytes) < 0) ::_exit(kCannot);
  own.answer = nullptr;
}

// Where there is no pid namespace nothing else ends this process with pid 1.
bool end_with(pid_t parent) {
  return ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && ::getppid() == parent;
}

}  // namespace

bool place(int fd, int number) {
  if (fd < 0) return false;
  const bool placed = ::dup2(fd, number) >= 0;
  ::close(fd);
  return placed;
}

void be_holder(const HolderPlan& plan) {
  if (!end_with(plan.parent)) ::_exit(kCannot);
  void* at = ::mmap(plan.vault, kVaultBytes, PROT_READ, MAP_SHARED | MAP_FIXED, plan.vault_file, 0);
  if (at == MAP_FAILED || !open_own_proc() || !leave_rseq()) ::_exit(kCannot);
  Cell own = plan.cell;
  own.borrowed = true;
  if (!answers_in_memory()) give_up_answer(own);
  if (!track_and_seal(plan.tracks)) ::_exit(kCannot);
  plan.confine(plan.context);
  if (!end_with(plan.parent)) ::_exit(kCannot);  // a change of uid clears it
  park(plan.vault, plan.desk, kFdWake, kFdParkedWriter);
  reseed_in_memory();
  run_job(own, plan.desk->order, plan.desk->fds);
}

}  // namespace shim::borrow
