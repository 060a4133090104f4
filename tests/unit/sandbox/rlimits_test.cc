#include "sandbox/rlimits.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

using sandbox::Rlimits;

namespace {

template <typename Body>
int in_child(Body body) {
  pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

template <typename Resource>
bool holds(Resource resource, rlim_t value) {
  rlimit now{};
  ::getrlimit(resource, &now);
  return now.rlim_cur == value && now.rlim_max == value;
}

}  // namespace

TEST_CASE("limits are set softly and hard, the optional ones only when asked for", "[rlimits]") {
  CHECK(in_child([] {
          rlimit before{};
          ::getrlimit(RLIMIT_FSIZE, &before);
          Rlimits wanted{.open_files = 33, .data = sys::mebibytes(900), .cpu_seconds = 7};
          if (apply_rlimits(wanted) != 0) return 1;
          if (!holds(RLIMIT_CORE, 0) || !holds(RLIMIT_NOFILE, 33)) return 2;
          if (!holds(RLIMIT_DATA, rlim_t{900} << 20) || !holds(RLIMIT_CPU, 7)) return 3;
          rlimit after{};
          ::getrlimit(RLIMIT_FSIZE, &after);
          return after.rlim_max == before.rlim_max && after.rlim_cur == before.rlim_cur ? 0 : 4;
        }) == 0);
}

TEST_CASE("a limit is never raised above the hard limit in force", "[rlimits]") {
  CHECK(in_child([] {
          if (apply_rlimits(Rlimits{.open_files = 20}) != 0) return 1;
          if (apply_rlimits(Rlimits{.open_files = 1u << 30}) != 0) return 2;
          return holds(RLIMIT_NOFILE, 20) ? 0 : 3;
        }) == 0);
}
