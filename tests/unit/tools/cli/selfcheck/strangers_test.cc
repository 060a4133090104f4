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

// Its parent has ended when this returns.
void leave_daemon() {
  const pid_t between = ::fork();
  if (between == 0) {
    ::setsid();
    if (::fork() == 0) stay();
    ::_exit(0);
  }
  ::waitpid(between, nullptr, 0);
}

// A process that adopts orphans once does so for good: the process of all other tests must not.
template <typename Answer>
int asked_in_child(Answer answer) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(answer());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

TEST_CASE("strangers: a daemon is counted and ended, a child that was there before is neither") {
  constexpr int kOursRuns = 100;

  const int answer = asked_in_child([] {
    const pid_t ours = ::fork();
    if (ours == 0) stay();
    const std::vector<pid_t> known = adopt_orphans();
    leave_daemon();
    const unsigned ended = end_strangers(known);
    const bool runs = ::waitpid(-1, nullptr, WNOHANG) == 0;  // one child, and it has not ended
    ::kill(ours, SIGKILL);
    ::waitpid(ours, nullptr, 0);
    return static_cast<int>(ended) + (runs ? kOursRuns : 0);
  });

  CHECK(answer == kOursRuns + 1);
}

TEST_CASE("strangers: who ends by itself was not left behind") {
  const int ended = asked_in_child([] {
    const std::vector<pid_t> known = adopt_orphans();
    if (::fork() == 0) ::_exit(0);
    return static_cast<int>(end_strangers(known));
  });

  CHECK(ended == 0);
}

}  // namespace
}  // namespace cli
