// Each case gives rights up in a child and tries, from inside, what should fail and what should
// not.

#include "sandbox/landlock.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "sandbox/caps.h"
#include "sandbox/sys/file.h"

using sandbox::LandlockRules;
using sys::OwnedFd;

namespace {

constexpr int kPath = O_PATH | O_CLOEXEC;

struct Scratch {
  std::string path = make();
  OwnedFd fd = sys::open(path, kPath | O_DIRECTORY).value();
  ~Scratch() { std::filesystem::remove_all(path); }
  static std::string make() {
    std::string pattern = std::filesystem::temp_directory_path() / "landlock-test-XXXXXX";
    return ::mkdtemp(pattern.data());
  }
};

bool skip_below(int abi) {
  if (sandbox::landlock_abi() >= abi) return false;
  WARN("SKIPPED, needs Landlock ABI " << abi << ", this kernel has " << sandbox::landlock_abi());
  return true;
}

// The exit code of `body` behind the ruleset; 77 when the ruleset could not be entered.
template <typename Body>
int confined(const OwnedFd& ruleset, Body body) {
  pid_t pid = ::fork();
  if (pid == 0) {
    if (sandbox::set_no_new_privs() != 0 || sandbox::restrict_self(ruleset.get()) != 0) ::_exit(77);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int errno_of_open(const std::string& path, int flags) {
  return OwnedFd(::open(path.c_str(), flags | O_CLOEXEC, 0600)) ? 0 : errno;
}

}  // namespace

TEST_CASE("behind Landlock the root is readable, scratch is ours, the rest is not writable",
          "[landlock]") {
  if (skip_below(1)) return;
  Scratch scratch;
  Scratch outside;
  OwnedFd root = sys::open("/", kPath | O_DIRECTORY).value();
  auto ruleset = sandbox::make_ruleset({.readable = {root.get()}, .scratch = {scratch.fd.get()}});
  REQUIRE(ruleset.ok());

  CHECK(confined(*ruleset, [] { return errno_of_open("/etc/passwd", O_RDONLY); }) == 0);
  CHECK(confined(*ruleset, [&] { return errno_of_open(scratch.path + "/f", O_RDWR | O_CREAT); }) ==
        0);
  CHECK(confined(*ruleset, [&] { return errno_of_open(outside.path + "/f", O_RDWR | O_CREAT); }) ==
        EACCES);
  CHECK(confined(*ruleset, [&] { return ::rmdir(outside.path.c_str()) < 0 ? errno : 0; }) ==
        EACCES);
}

TEST_CASE("in scratch a job may make, move and remove files and directories", "[landlock]") {
  if (skip_below(2)) return;
  Scratch scratch;
  auto ruleset = sandbox::make_ruleset({.scratch = {scratch.fd.get()}});
  REQUIRE(ruleset.ok());

  CHECK(confined(*ruleset, [&] {
          std::string a = scratch.path + "/a";
          std::string b = scratch.path + "/b";
          if (::mkdir(a.c_str(), 0700) < 0 || ::mkdir(b.c_str(), 0700) < 0) return 1;
          if (::symlink("x", (a + "/link").c_str()) < 0) return 2;
          if (::rename((a + "/link").c_str(), (b + "/link").c_str()) < 0) return 3;
          if (::unlink((b + "/link").c_str()) < 0 || ::rmdir(b.c_str()) < 0) return 4;
          return ::mknod((a + "/dev").c_str(), S_IFCHR | 0600, 0) < 0 ? 0 : 5;
        }) == 0);
}

TEST_CASE("a named device can be read and written, its neighbours cannot", "[landlock]") {
  if (skip_below(1)) return;
  OwnedFd null = sys::open("/dev/null", kPath).value();
  auto ruleset = sandbox::make_ruleset({.devices = {null.get()}});
  REQUIRE(ruleset.ok());

  CHECK(confined(*ruleset, [] { return errno_of_open("/dev/null", O_RDWR | O_TRUNC); }) == 0);
  CHECK(confined(*ruleset, [] { return errno_of_open("/dev/zero", O_RDONLY); }) == EACCES);
}

TEST_CASE("programs start from the root, and from scratch only where that is allowed",
          "[landlock]") {
  if (skip_below(1)) return;
  Scratch scratch;
  OwnedFd root = sys::open("/usr", kPath | O_DIRECTORY).value();
  OwnedFd lib = sys::open("/", kPath | O_DIRECTORY).value();
  std::filesystem::copy_file("/bin/true", scratch.path + "/true");
  auto run = [&] {
    ::execl((scratch.path + "/true").c_str(), "true", nullptr);
    return errno;
  };
  LandlockRules denied{.readable = {root.get()},
                       .scratch = {scratch.fd.get()},
                       .in_scratch = LandlockRules::Execution::kDenied};
  LandlockRules allowed{.readable = {lib.get()}, .scratch = {scratch.fd.get()}};

  CHECK(confined(*sandbox::make_ruleset(denied), run) == EACCES);
  CHECK(confined(*sandbox::make_ruleset(allowed), run) == 0);
}

TEST_CASE("behind Landlock no TCP port can be bound", "[landlock]") {
  if (skip_below(4)) return;
  auto ruleset = sandbox::make_ruleset({});
  REQUIRE(ruleset.ok());

  CHECK(confined(*ruleset, [] {
          OwnedFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
          sockaddr_in any{};
          any.sin_family = AF_INET;
          any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
          any.sin_port = htons(49999);
          return ::bind(socket.get(), reinterpret_cast<sockaddr*>(&any), sizeof any) < 0 ? errno
                                                                                         : 0;
        }) == EACCES);
}

TEST_CASE("a process behind Landlock cannot signal its parent, but can signal its child",
          "[landlock]") {
  if (skip_below(6)) return;
  auto ruleset = sandbox::make_ruleset({});
  REQUIRE(ruleset.ok());
  const pid_t parent = ::getpid();

  CHECK(confined(*ruleset, [parent] { return ::kill(parent, SIGCONT) < 0 ? errno : 0; }) == EPERM);
  CHECK(confined(*ruleset, [] {
          pid_t pid = ::fork();
          if (pid == 0) {
            for (;;) ::pause();
          }
          return ::kill(pid, SIGKILL) < 0 ? errno : 0;
        }) == 0);
}

TEST_CASE("a bad ruleset is refused", "[landlock]") {
  if (skip_below(1)) return;
  CHECK(confined(OwnedFd(), [] { return 0; }) == 77);
  CHECK_FALSE(sandbox::make_ruleset({.readable = {-1}}).ok());
}
