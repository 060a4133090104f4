// A job that borrows memory may do nothing to the address space that a rollback does not take back.
#include <asm/prctl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "shim/borrow/vault.h"
#include "tests/unit/sandbox/seccomp/filter.h"

using namespace sandbox;
using namespace sandbox::test;

namespace {

const FilterVariant kBorrower = only(&FilterVariant::borrows_memory);

Action advise(Profile profile, uint64_t advice) {
  return act(filter_of(profile, kBorrower), "madvise", {0x1000, 4096, advice});
}

}  // namespace

TEST_CASE("a borrower keeps what leaves no trace in the address space", "[seccomp][borrow]") {
  for (Profile profile : {Profile::kPure, Profile::kDefault}) {
    const std::string& filter = filter_of(profile, kBorrower);
    for (const char* call : {"mmap", "munmap", "mremap", "brk", "mprotect", "msync", "mincore"})
      CHECK(act(filter, call, {0x1000, 4096, PROT_READ}) == kGo);
    for (uint64_t advice : {MADV_DONTNEED, MADV_WILLNEED, 22 /* POPULATE_READ */})
      CHECK(advise(profile, advice) == kGo);
    CHECK(act(filter, "arch_prctl", {ARCH_SET_FS}) == kGo);
  }
}

TEST_CASE("hints to a borrower's address space are pretended", "[seccomp][borrow]") {
  for (Profile profile : {Profile::kPure, Profile::kDefault}) {
    for (uint64_t advice : {MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_HUGEPAGE,
                            MADV_NOHUGEPAGE, MADV_DONTDUMP, MADV_DODUMP})
      CHECK(advise(profile, advice) == quiet(0));
    CHECK(act(filter_of(profile, kBorrower), "prctl", {PR_SET_THP_DISABLE}) == quiet(0));
    CHECK(act(filter_of(profile, kBorrower), "prctl", {PR_SET_VMA}) == quiet(0));
  }
}

TEST_CASE("a borrower cannot do to an address space what shows in no map of it",
          "[seccomp][borrow]") {
  for (Profile profile : {Profile::kPure, Profile::kDefault}) {
    const std::string& filter = filter_of(profile, kBorrower);
    for (uint64_t advice :
         {uint64_t{102} /* GUARD_INSTALL */, uint64_t{MADV_MERGEABLE}, uint64_t{MADV_DONTFORK},
          uint64_t{MADV_WIPEONFORK}, uint64_t{MADV_FREE}})
      CHECK(advise(profile, advice) == quiet(EINVAL));
    for (const char* call : {"pkey_alloc", "pkey_free", "membarrier", "process_madvise"})
      CHECK(act(filter, call, {static_cast<uint64_t>(-10000)}) == quiet(ENOSYS));
    for (const char* call : {"mlock", "mlock2", "mlockall"})
      CHECK(act(filter, call, {0x1000, 4096}) == quiet(EPERM));
    CHECK(advise(profile, MADV_HWPOISON) == kAsk);
    for (const char* call : {"userfaultfd", "io_setup", "io_uring_setup", "vmsplice",
                             "remap_file_pages", "modify_ldt", "process_vm_writev", "fork"})
      CHECK(act(filter, call) == kAsk);
    CHECK(act(filter, "arch_prctl", {0x4001 /* ENABLE_TAGGED_ADDR */}) == kAsk);
    CHECK(act(filter, "clone", {SIGCHLD}) == kAsk);
  }
}

TEST_CASE("a borrower signals processes, and is not told that there are others than its own",
          "[seccomp][borrow]") {
  for (Profile profile : {Profile::kPure, Profile::kDefault}) {
    const std::string& filter = filter_of(profile, kBorrower);
    CHECK(act(filter, "kill", {2, 9}) == kGo);
    CHECK(act(filter, "kill", {0, 9}) == kGo);
    CHECK(act(filter, "kill", {static_cast<uint32_t>(-1), 9}) == quiet(ESRCH));
    CHECK(act(filter, "kill", {static_cast<uint64_t>(-1), 9}) == quiet(ESRCH));
    CHECK(act(Profile::kPure, "kill", {static_cast<uint64_t>(-1), 9}) == kGo);
  }
}

TEST_CASE("a process in the borrowed memory is started with pid 1's arguments, and no others",
          "[seccomp][borrow]") {
  using shim::borrow::kCloneAddress;
  for (Profile profile : {Profile::kPure, Profile::kDefault}) {
    const std::string& filter = filter_of(profile, kBorrower);
    const uint64_t size = sizeof(shim::borrow::CloneArguments);
    CHECK(act(filter, "clone3", {kCloneAddress, size}) == kGo);
    // Without the last words no pid is asked for, and so no capability.
    for (uint64_t other : {uint64_t{64}, size - 1, size + 8})
      CHECK(act(filter, "clone3", {kCloneAddress, other}) == kAsk);
    for (uint64_t other : {kCloneAddress + 8, kCloneAddress - 8, kCloneAddress & 0xffffffff,
                           kCloneAddress | uint64_t{1} << 47, uint64_t{0}})
      CHECK(act(filter, "clone3", {other, size}) == quiet(ENOSYS));
    CHECK(act(filter_of(profile, {}), "clone3", {kCloneAddress, size}) == quiet(ENOSYS));
  }
}

TEST_CASE("where pids are shared no clone3 passes, and each start of a job is asked about",
          "[seccomp][borrow]") {
  using shim::borrow::kCloneAddress;
  FilterVariant shared = kBorrower;
  shared.shared_pids = true;
  constexpr uint64_t kStart =
      CLONE_VM | CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;
  for (Profile profile : {Profile::kPure, Profile::kDefault}) {
    const std::string& filter = filter_of(profile, shared);
    for (uint64_t address : {kCloneAddress, kCloneAddress + 8, uint64_t{0}})
      CHECK(act(filter, "clone3", {address, sizeof(shim::borrow::CloneArguments)}) ==
            quiet(ENOSYS));
    for (const FilterVariant& either : {kBorrower, shared})
      CHECK(act(filter_of(profile, either), "clone", {kStart}) == kAsk);
  }
}

TEST_CASE("a borrower that makes code is allowed that, and nothing else that stays",
          "[seccomp][borrow]") {
  FilterVariant both = kBorrower;
  both.makes_code = true;
  constexpr uint64_t kCode = PROT_READ | PROT_WRITE | PROT_EXEC;
  for (Profile profile : {Profile::kPure, Profile::kDefault}) {
    const std::string& filter = filter_of(profile, both);
    CHECK(act(filter, "mprotect", {0x1000, 4096, kCode}) == kGo);
    CHECK(act(filter_of(profile, kBorrower), "mprotect", {0x1000, 4096, kCode}) == quiet(EACCES));
    for (uint64_t advice : {uint64_t{102} /* GUARD_INSTALL */, uint64_t{MADV_FREE}})
      CHECK(act(filter, "madvise", {0x1000, 4096, advice}) == quiet(EINVAL));
    for (const char* call : {"pkey_alloc", "pkey_free", "membarrier", "clone3"})
      CHECK(act(filter, call) == quiet(ENOSYS));
    for (const char* call : {"mlock", "mlockall"})
      CHECK(act(filter, call, {0x1000, 4096}) == quiet(EPERM));
    for (const char* call : {"prctl", "userfaultfd", "vmsplice", "io_setup", "execve", "fork"})
      CHECK(act(filter, call, {65 /* PR_SET_MDWE */, 1}) == kAsk);
  }
}

TEST_CASE("other jobs keep all of these", "[seccomp][borrow]") {
  CHECK(act(Profile::kPure, "madvise", {0x1000, 4096, 102}) == kGo);
  CHECK(act(Profile::kPure, "pkey_alloc") == kGo);
  CHECK(act(Profile::kPure, "membarrier") == kGo);
}
