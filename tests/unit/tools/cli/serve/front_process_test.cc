#include "tools/cli/serve/front_process.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <optional>

#include "tests/unit/tools/cli/fake_engine.h"
#include "tools/cli/options.h"

namespace cli {
namespace {

// From here on this process gets no other: clone() is EAGAIN, as where there is no room for one.
bool refuse_processes() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(code), code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// The exit code of the service whose front cannot be started, once it is told to stop; none: it
// waits for a front that there is not.
std::optional<int> code_without_process() {
  FakeEngine engine;
  runtime::Loop loop;
  std::optional<int> code;
  FrontProcess::Options options;
  options.arguments = {"zygo"};
  options.log = [](const std::string&) {};
  options.ended = [&](int with) { code = with; };
  FrontProcess front(engine, loop, std::move(options));
  if (!refuse_processes() || front.start()) return 1;
  front.stop();
  return code;
}

}  // namespace

TEST_CASE("a service is stopped while no process can be made for its front", "[serve]") {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(code_without_process().value_or(2) == kExitOk ? 0 : 1);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

}  // namespace cli
