// What the filter of borrowers says of each value of an argument, written down once more: whatever
// passes without need stays in an address space that the next job has.
#include <sys/mman.h>

#include <array>
#include <map>
#include <set>

#include "tests/unit/sandbox/seccomp/filter.h"

using namespace sandbox;
using namespace sandbox::test;

namespace {

constexpr Profile kLent[] = {Profile::kPure, Profile::kDefault};

const FilterVariant kBorrower = only(&FilterVariant::borrows_memory);

FilterVariant with_shared_pids() {
  FilterVariant variant = kBorrower;
  variant.shared_pids = true;
  return variant;
}

// Values of words that headers of older systems lack stand as numbers.
constexpr uint64_t kPopulateRead = 22, kPopulateWrite = 23, kCollapse = 25, kGuardInstall = 102,
                   kGuardRemove = 103;

std::map<uint64_t, Action> advice() {
  std::map<uint64_t, Action> says;
  for (uint64_t word :
       {uint64_t{MADV_WILLNEED}, uint64_t{MADV_DONTNEED}, kPopulateRead, kPopulateWrite})
    says.emplace(word, kGo);
  for (uint64_t word : {MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_HUGEPAGE, MADV_NOHUGEPAGE,
                        20 /* COLD */, 21 /* PAGEOUT */, MADV_DONTDUMP, MADV_DODUMP})
    says.emplace(word, quiet(0));
  for (uint64_t word : {uint64_t{MADV_FREE}, kGuardInstall, kGuardRemove, uint64_t{MADV_MERGEABLE},
                        uint64_t{MADV_UNMERGEABLE}, uint64_t{MADV_DONTFORK}, uint64_t{MADV_DOFORK},
                        uint64_t{MADV_WIPEONFORK}, uint64_t{MADV_KEEPONFORK}, kCollapse})
    says.emplace(word, quiet(EINVAL));
  return says;
}

// Options of prctl that pass with the arguments 1 and 1: none of them speaks of an address space.
const std::set<uint64_t> kOptions = {
    1,  2,  3,  5,  7,  9,  11, 13, 15, 16, 19, 21, 23, 24,
    25, 27, 29, 30, 34, 37, 38, 39, 40, 42, 47, 52, 56, 0x41555856 /* PR_GET_AUXV */,
};
constexpr uint64_t kSetVma = 0x53564d41, kSetThpDisable = 41;

// Calls of which a borrower is told something else than a fork.
const std::set<std::string> kOther = {
    "madvise",   "process_madvise", "mlock", "mlock2", "mlockall",   "pkey_alloc",
    "pkey_free", "membarrier",      "prctl", "kill",   "arch_prctl", "clone3",
};

// Calls that change an address space for good, have the kernel write to it later, keep its pages,
// put a process into it, or reach another process, whatever the arguments.
constexpr const char* kNever[] = {
    "userfaultfd",
    "io_setup",
    "io_submit",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "vmsplice",
    "remap_file_pages",
    "modify_ldt",
    "process_vm_writev",
    "ptrace",
    "process_vm_readv",
    "memfd_secret",
    "pidfd_getfd",
    "shmat",
    "shmdt",
    "perf_event_open",
    "move_pages",
    "migrate_pages",
    "fork",
    "vfork",
    "execve",
    "execveat",
    "mseal",
    "mbind",
    "set_mempolicy",
    "kcmp",
    "set_mempolicy_home_node",
    "unshare",
    "setns",
    "seccomp",
    "map_shadow_stack",
    "process_mrelease",
    "mlock",
    "mlock2",
    "mlockall",
    "pkey_alloc",
    "pkey_free",
    "membarrier",
    "process_madvise",
    "sched_setparam",
    "sched_setattr",
    "sched_setaffinity",
};

constexpr std::array<std::array<uint64_t, 3>, 5> kArguments = {{
    {0, 0, 0},
    {1, 1, 1},
    {0x1000, 4096, 0},
    {0x1000, 4096, 4},
    {static_cast<uint64_t>(-10000), 1, 1},  // PIDFD_SELF_THREAD_GROUP
}};

}  // namespace

TEST_CASE("each advice of a borrower has its answer", "[seccomp][borrow]") {
  const std::map<uint64_t, Action> says = advice();
  for (Profile profile : kLent) {
    for (uint64_t word = 0; word < 256; ++word) {
      const auto known = says.find(word);
      INFO("advice " << word);
      CHECK(act(filter_of(profile, kBorrower), "madvise", {0x1000, 4096, word}) ==
            (known == says.end() ? kAsk : known->second));
    }
  }
}

TEST_CASE("no option of prctl that passes speaks of an address space", "[seccomp][borrow]") {
  for (Profile profile : kLent) {
    const std::string& filter = filter_of(profile, kBorrower);
    for (uint64_t option = 0; option < 256; ++option) {
      INFO("option " << option);
      CHECK((act(filter, "prctl", {option, 1, 1}) == kGo) == kOptions.contains(option));
    }
    for (uint64_t option : {kSetVma, kSetThpDisable})
      CHECK(act(filter, "prctl", {option, 1, 1}) == quiet(0));
    CHECK(act(filter, "prctl", {4 /* PR_SET_DUMPABLE */, 1}) == kAsk);
    CHECK(act(filter, "prctl", {0x59616d61 /* PR_SET_PTRACER */, 1}) == kAsk);
  }
}

TEST_CASE("of the architecture's registers a borrower sets those that are its own",
          "[seccomp][borrow]") {
  const std::set<uint64_t> pass = {0x1001, 0x1002, 0x1003, 0x1004};  // GS and FS
  const std::set<uint64_t> fail_quietly = {0x1021, 0x1022, 0x1023};  // of AMX
  for (Profile profile : kLent) {
    for (uint64_t option = 0x1000; option < 0x6000; ++option) {
      const Action says = act(filter_of(profile, kBorrower), "arch_prctl", {option});
      const Action expected = pass.contains(option)           ? kGo
                              : fail_quietly.contains(option) ? quiet(EINVAL)
                                                              : kAsk;
      if (says != expected) FAIL_CHECK("arch_prctl " << std::hex << option);
    }
  }
}

TEST_CASE("a borrower is told of no other call something else than a fork", "[seccomp][borrow]") {
  for (Profile profile : kLent) {
    for (const FilterVariant& variant : {kBorrower, with_shared_pids()}) {
      FilterVariant forks = variant;
      forks.borrows_memory = false;
      for (int number = 0; number < 480; ++number) {
        const std::string name = name_of_call(native_arch(), number);
        if (kOther.contains(name)) continue;
        for (const auto& [first, second, third] : kArguments) {
          const seccomp_data data = native_call(number, {first, second, third});
          INFO(name);
          CHECK(run(filter_of(profile, variant), data) == run(filter_of(profile, forks), data));
        }
      }
    }
  }
}

TEST_CASE("what would outlive a borrower passes with no arguments", "[seccomp][borrow]") {
  for (Profile profile : kLent) {
    for (const FilterVariant& variant : {kBorrower, with_shared_pids()}) {
      for (const char* call : kNever) {
        if (call_number(call).value < 0) continue;  // of a kernel newer than the library
        for (const auto& [first, second, third] : kArguments) {
          CHECK(act(filter_of(profile, variant), call, {first, second, third}) != kGo);
        }
      }
    }
  }
}

TEST_CASE("a borrower names no other process than itself", "[seccomp][borrow]") {
  constexpr uint64_t kOtherPid = 30000, kIdle = 5 /* SCHED_IDLE */;
  for (Profile profile : kLent) {
    for (const FilterVariant& variant : {kBorrower, with_shared_pids()}) {
      const std::string& filter = filter_of(profile, variant);
      CHECK(act(filter, "prlimit64", {0, 7, 0}) == kGo);
      CHECK(act(filter, "prlimit64", {kOtherPid, 7, 0}) != kGo);
      for (uint64_t which : {0, 1, 2}) CHECK(act(filter, "setpriority", {which, kOtherPid}) != kGo);
      for (uint64_t which : {1, 2, 3}) CHECK(act(filter, "ioprio_set", {which, kOtherPid}) != kGo);
      CHECK(act(filter, "sched_setscheduler", {kOtherPid, kIdle}) != kGo);
      for (uint64_t command : {8 /* SETOWN */, 10 /* SETSIG */, 15 /* SETOWN_EX */})
        CHECK(act(filter, "fcntl", {3, command, kOtherPid}) != kGo);
      for (uint64_t option : {60 /* ZEROCOPY */, 1 /* DEBUG */})
        CHECK(act(filter, "setsockopt", {3, 1 /* SOL_SOCKET */, option}) != kGo);
    }
  }
}
