#include "sandbox/supervisor.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <catch2/catch.hpp>

#include "sandbox/seccomp/profiles.h"
#include "sandbox/seccomp/seccomp.h"
#include "sandbox/seccomp/syscall_names.h"

using namespace sandbox;

namespace {

uint32_t supervisor_does(int number, bool lends_memory = false) {
  sys::Result<std::string> filter = compile_supervisor_filter(lends_memory);
  REQUIRE(filter.ok());
  seccomp_data call{};
  call.nr = number;
  call.arch = native_arch();
  return evaluate(std::as_bytes(std::span(*filter)), call).action;
}

}  // namespace

TEST_CASE("the supervisor forbids itself what it never needs, and keeps its duties",
          "[supervisor]") {
  for (long forbidden : {SYS_bpf, SYS_ptrace, SYS_keyctl, SYS_io_uring_setup, SYS_kexec_load})
    CHECK(supervisor_does(static_cast<int>(forbidden)) == SECCOMP_RET_TRACE);
  for (long duty :
       {SYS_mount, SYS_clone, SYS_execve, SYS_setresuid, SYS_process_vm_readv, SYS_seccomp})
    CHECK(supervisor_does(static_cast<int>(duty)) == SECCOMP_RET_ALLOW);
}

TEST_CASE("written pages are tracked only where memory is lent", "[supervisor]") {
  CHECK(supervisor_does(SYS_userfaultfd) == SECCOMP_RET_TRACE);
  CHECK(supervisor_does(SYS_userfaultfd, true) == SECCOMP_RET_ALLOW);
  CHECK(supervisor_does(SYS_bpf, true) == SECCOMP_RET_TRACE);
}

TEST_CASE("a cell's notification outranks the supervisor's refusal, so attempts are still named",
          "[supervisor]") {
  // seccomp(2): of several filters the action with the lowest value, as a signed number, wins.
  CHECK(static_cast<int32_t>(SECCOMP_RET_USER_NOTIF) < static_cast<int32_t>(SECCOMP_RET_TRACE));
  CHECK(static_cast<int32_t>(SECCOMP_RET_ERRNO) < static_cast<int32_t>(SECCOMP_RET_TRACE));
}

TEST_CASE("no profile allows a job what the supervisor forbids", "[supervisor]") {
  REQUIRE(supervisor_rules().ok());
  const uint64_t args[6] = {};
  for (Profile profile :
       {Profile::kPure, Profile::kDefault, Profile::kSubprocess, Profile::kBuild}) {
    for (const RuleGroup& group : *supervisor_rules()) {
      for (const Rule& rule : group.rules) {
        INFO(name_of(profile) << " " << rule.call);
        CHECK(settle(*rules_of(profile), {}, rule.number, args).treatment != Treatment::kAllow);
      }
    }
  }
}
