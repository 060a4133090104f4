// The probe for filters around us, in a child that has put one around itself.
#include "sandbox/probe/filter.h"

#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <vector>

#include "sandbox/sys/file.h"

using namespace sandbox;

namespace {

using Program = std::vector<sock_filter>;

void answer_call(Program* program, int number, uint32_t action) {
  program->push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 1));
  program->push_back(BPF_STMT(BPF_RET | BPF_K, action));
}

Program outer_filter() { return {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))}; }

bool load(Program program) {
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  sock_fprog loaded = {.len = static_cast<unsigned short>(program.size()),
                       .filter = program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &loaded) == 0;
}

struct Found {
  int64_t flags = -1;  // clone_flags_masked(), or -1 where the filter could not be loaded
  int64_t milliseconds = 0;
  int64_t left_behind = 0;  // descriptors and children
  std::vector<int> masked;
};

size_t open_descriptors() {
  auto all = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

std::string ask(const Program& outer) {
  std::string answer;
  auto add = [&](int64_t number) {
    answer.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  const bool loaded = load(outer);
  const size_t before = open_descriptors();
  const auto began = std::chrono::steady_clock::now();
  const std::vector<int> masked = masked_calls();
  const bool flags = clone_flags_masked();
  const auto took = std::chrono::steady_clock::now() - began;
  add(loaded ? flags : -1);
  add(std::chrono::duration_cast<std::chrono::milliseconds>(took).count());
  const bool childless = ::waitpid(-1, nullptr, WNOHANG | __WALL) < 0 && errno == ECHILD;
  add((open_descriptors() == before && childless) ? 0 : 1);
  for (int number : masked) add(number);
  return answer;
}

// The probe's answers in a child under `outer`.
Found probe_under(const Program& outer) {
  auto pipe = sys::make_pipe();
  REQUIRE(pipe.ok());
  pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(20);
    ::_exit(sys::write_all(pipe->writer.get(), ask(outer)) ? 0 : 1);
  }
  pipe->writer.reset();
  auto answer = sys::read_all(pipe->reader.get());
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(status == 0);
  REQUIRE(answer.ok());
  std::vector<int64_t> numbers(answer->size() / sizeof(int64_t));
  std::memcpy(numbers.data(), answer->data(), numbers.size() * sizeof(int64_t));
  REQUIRE(numbers.size() >= 3);
  return {numbers[0], numbers[1], numbers[2], {numbers.begin() + 3, numbers.end()}};
}

bool skipped(const Found& found) {
  if (found.flags < 0) WARN("SKIPPED: this host lets no process load a filter");
  return found.flags < 0;
}

// The calls that are masked on the machine that the test runs on, and these.
std::vector<int> with(std::vector<int> numbers) {
  for (int number : masked_calls()) numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

}  // namespace

TEST_CASE("under an outer filter that refuses three calls, exactly these are masked",
          "[seccomp][probe]") {
  Program outer = outer_filter();
  answer_call(&outer, SYS_mount, SECCOMP_RET_ERRNO | EPERM);
  answer_call(&outer, SYS_keyctl, SECCOMP_RET_ERRNO | ENOSYS);
  answer_call(&outer, SYS_mq_open, SECCOMP_RET_ERRNO);  // pretended success

  Found found = probe_under(outer);

  if (skipped(found)) return;
  CHECK(found.masked == with({SYS_mount, SYS_keyctl, SYS_mq_open}));
  CHECK(found.flags == clone_flags_masked());
  CHECK(found.left_behind == 0);
  CHECK(found.milliseconds < 3000);
}

TEST_CASE("a filter around us that refuses nothing masks nothing", "[seccomp][probe]") {
  Found found = probe_under(outer_filter());

  if (skipped(found)) return;
  CHECK(found.masked == with({}));
  CHECK(found.flags == clone_flags_masked());
}

TEST_CASE("calls that an outer filter kills or traps are masked, and the probe goes on behind them",
          "[seccomp][probe]") {
  Program outer = outer_filter();
  answer_call(&outer, SYS_ptrace, SECCOMP_RET_KILL_PROCESS);
  answer_call(&outer, SYS_kexec_load, SECCOMP_RET_TRAP);
  answer_call(&outer, SYS_bpf, SECCOMP_RET_ERRNO | EPERM);

  Found found = probe_under(outer);

  if (skipped(found)) return;
  CHECK(found.masked == with({SYS_ptrace, SYS_kexec_load, SYS_bpf}));
  CHECK(found.left_behind == 0);
}

TEST_CASE("an outer filter that looks at the flags of clone masks those, and not clone",
          "[seccomp][probe]") {
  Program outer = outer_filter();
  constexpr uint32_t kDenied = 0x7E020000;  // what Docker's profile looks at
  outer.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4));
  outer.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)));
  outer.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kDenied, 0, 1));
  outer.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  outer.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));

  Found found = probe_under(outer);

  if (skipped(found)) return;
  CHECK(found.masked == with({}));
  CHECK(found.flags == 1);
}

TEST_CASE("an outer filter that refuses clone altogether is no matter of flags",
          "[seccomp][probe]") {
  // The probe's own child could not be made: nothing is known, nothing hangs.
  Program outer = outer_filter();
  answer_call(&outer, SYS_clone, SECCOMP_RET_ERRNO | EAGAIN);

  Found found = probe_under(outer);

  if (skipped(found)) return;
  CHECK(found.masked.empty());
  CHECK(found.flags == 0);
  CHECK(found.left_behind == 0);
}

TEST_CASE("a family of sockets that an outer filter refuses makes socket() one that is masked",
          "[seccomp][probe]") {
  Program outer = outer_filter();
  constexpr uint32_t kVsock = 40;
  outer.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 4));
  outer.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)));
  outer.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kVsock, 0, 1));
  outer.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  outer.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));

  Found found = probe_under(outer);

  if (skipped(found)) return;
  CHECK(found.masked == with({SYS_socket}));
}
