#include "tools/cli/selfcheck/strangers.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace cli {
namespace {

[[noreturn]] void stay() {
  for (;;) ::pause();
}

pid_t start_child() {
  const pid_t child = ::fork();
  if (child == 0) stay();
  return child;
}

// Its parent has ended when this returns.
void leave_daemon() {
  const pid_t between = ::fork();
  if (between == 0) {
    ::setsid();
    if (::fork() == 0) stay();
    ::_exit(0);
  }
  REQUIRE(::waitpid(between, nullptr, 0) == between);
}

TEST_CASE("strangers: a daemon is counted and ended, a child that was there before is neither") {
  const pid_t ours = start_child();
  const std::vector<pid_t> known = adopt_orphans();
  CHECK(known == std::vector<pid_t>{ours});
  leave_daemon();

  CHECK(end_strangers(known) == 1);

  CHECK(::waitpid(-1, nullptr, WNOHANG) == 0);  // one child, and it runs
  ::kill(ours, SIGKILL);
  CHECK(::waitpid(ours, nullptr, 0) == ours);
}

TEST_CASE("strangers: who ends by itself was not left behind") {
  const std::vector<pid_t> known = adopt_orphans();
  if (::fork() == 0) ::_exit(0);

  CHECK(end_strangers(known) == 0);

  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}

}  // namespace
}  // namespace cli
