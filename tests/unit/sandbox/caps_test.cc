#include "sandbox/caps.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

using sandbox::cap_bit;

namespace {

template <typename Body>
int in_child(Body body) {
  pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

bool skip_without_caps() {
  if (sandbox::permitted_caps() & cap_bit(CAP_SETPCAP)) return false;
  WARN("SKIPPED, this process has no capabilities to give up");
  return true;
}

}  // namespace

TEST_CASE("after dropping, no capability is left and none comes back", "[caps]") {
  CHECK(in_child([] {
          if (sandbox::drop_all_caps() != 0 || sandbox::has_any_cap()) return 1;
          return sandbox::keep_only(cap_bit(CAP_KILL)) == EPERM ? 0 : 2;
        }) == 0);
}

TEST_CASE("a keeper keeps exactly the capabilities it names", "[caps]") {
  if (skip_without_caps()) return;
  CHECK(in_child([] {
          const sandbox::CapMask mask = cap_bit(CAP_KILL) | cap_bit(CAP_CHECKPOINT_RESTORE);
          if (sandbox::keep_only(mask) != 0) return 1;
          return sandbox::has_any_cap() && sandbox::permitted_caps() == mask ? 0 : 2;
        }) == 0);
}

TEST_CASE("the bounding set is emptied but for what is kept", "[caps]") {
  if (skip_without_caps()) return;
  CHECK(in_child([] {
          if (sandbox::drop_bounding_set(cap_bit(CAP_SETUID)) != 0) return 1;
          if (::prctl(PR_CAPBSET_READ, CAP_SETUID, 0, 0, 0) != 1) return 2;
          return ::prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) == 0 ? 0 : 3;
        }) == 0);
}

TEST_CASE("without CAP_SETPCAP the bounding set cannot be dropped, and that is said", "[caps]") {
  if (skip_without_caps()) return;
  CHECK(in_child([] {
          (void)sandbox::drop_all_caps();
          return sandbox::drop_bounding_set();
        }) == EPERM);
}

TEST_CASE("no_new_privs, once set, is seen", "[caps]") {
  CHECK(in_child([] {
          if (sandbox::set_no_new_privs() != 0) return 1;
          return sandbox::has_no_new_privs() ? 0 : 2;
        }) == 0);
}
