// A real process under a real filter: what it tries, what it is told, what is named.
// NOLINTBEGIN(android-cloexec-*): the children leave at once.
#include "sandbox/notify/notify.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "sandbox/sys/socket.h"
#include "tests/unit/sandbox/notify/trial.h"

using namespace sandbox;
using namespace sandbox::test;

TEST_CASE("a job that opens a socket is refused, and family and type are named", "[notify]") {
  Seen seen = watch({}, [] {
    EXPECT_ERROR(EPERM, ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_ERROR(EPERM, ::socket(AF_NETLINK, SOCK_RAW, 0));
    EXPECT_ERROR(EACCES, ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused == Words{"socket AF_INET SOCK_STREAM", "socket AF_NETLINK SOCK_RAW"});
}

TEST_CASE("connect, bind and sendto name the address", "[notify]") {
  Seen seen = watch({}, [] {
    sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(80), .sin_addr = {}, .sin_zero = {}};
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* address = reinterpret_cast<sockaddr*>(&v4);
    EXPECT_ERROR(EPERM, ::connect(0, address, sizeof v4));
    EXPECT_ERROR(EPERM, ::sendto(0, "x", 1, 0, address, sizeof v4));
    sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "/run/x\n"};
    EXPECT_ERROR(EPERM, ::bind(0, reinterpret_cast<sockaddr*>(&un), sizeof un));
    EXPECT_ERROR(EPERM, ::syscall(SYS_connect, 0, 8, 16));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused == Words{"connect 127.0.0.1:80", "sendto 127.0.0.1:80", "bind unix:/run/x\\n",
                              "connect unreadable"});
}

TEST_CASE("programs and processes are refused by name under default", "[notify]") {
  Seen seen = watch({}, [] {
    EXPECT_ERROR(EPERM, ::execl("/bin/true", "true", nullptr));
    EXPECT_ERROR(EPERM, ::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    EXPECT_ERROR(EPERM, ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
    EXPECT_ERROR(EPERM, ::unshare(CLONE_NEWUSER | CLONE_NEWTIME));
    EXPECT_ERROR(ENOSYS, ::syscall(SYS_clone3, 0, 0));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused == Words{"execve /bin/true", "clone new process", "clone CLONE_NEWUSER",
                              "unshare CLONE_NEWUSER|CLONE_NEWTIME"});
}

TEST_CASE("pid 1 of a cell forks under the filter, and its child may not", "[notify]") {
  Seen seen = watch({.child_is_init = true}, [] {
    long child = ::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    EXPECT_SUCCESS(child);
    if (child == 0) {
      bool refused = ::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) < 0 && errno == EPERM;
      ::_exit(refused ? 0 : 1);
    }
    int status = 0;
    EXPECT_SUCCESS(::waitpid(static_cast<pid_t>(child), &status, 0));
    return status == 0 ? 0 : 1;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.proceeded == 1);
  CHECK(seen.refused == Words{"clone new process"});
}

TEST_CASE("what a forked job gives up is never asked about", "[notify]") {
  Seen seen = watch({.profile = Profile::kPure}, [] {
    rlimit limit{};
    EXPECT_SUCCESS(::syscall(SYS_close_range, 100, ~0U, 0));
    EXPECT_SUCCESS(::syscall(SYS_prlimit64, 0, RLIMIT_CORE, &limit, nullptr));
    EXPECT_SUCCESS(::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0));
    EXPECT_SUCCESS(::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
    EXPECT_SUCCESS(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    sched_param idle{};
    EXPECT_SUCCESS(::sched_setscheduler(0, SCHED_IDLE, &idle));
    ::syscall(SYS_setgroups, 0, nullptr);
    EXPECT_SUCCESS(::syscall(SYS_setresgid, ::getgid(), ::getgid(), ::getgid()));
    EXPECT_SUCCESS(::syscall(SYS_setresuid, ::getuid(), ::getuid(), ::getuid()));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused.empty());
  CHECK(seen.proceeded == 0);
}

TEST_CASE("other calls name their option, process or numbers", "[notify]") {
  Seen seen = watch({}, [] {
    EXPECT_ERROR(EPERM, ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
    EXPECT_ERROR(EPERM, ::ioctl(0, TIOCSTI, "x"));
    EXPECT_ERROR(ENOTTY, ::ioctl(0, 0x9999, 0));
    EXPECT_ERROR(EINVAL, ::fcntl(0, 9999, 0));
    EXPECT_ERROR(EPERM, ::syscall(SYS_prlimit64, 1, RLIMIT_CPU, nullptr, nullptr));
    EXPECT_ERROR(EPERM, ::syscall(SYS_ptrace, 16, 1, 0, 0));
    EXPECT_ERROR(EPERM, ::syscall(999, 1, 2, 3));
    EXPECT_ERROR(EPERM, ::mount("a\x1b", "/mnt", "tmpfs", 0, nullptr));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.quiet == 2);
  CHECK(seen.refused == Words{"prctl PR_SET_DUMPABLE 0x1", "ioctl TIOCSTI",
                              "prlimit64 pid 1 RLIMIT_CPU", "ptrace PTRACE_ATTACH pid 1",
                              "call 999 0x1, 0x2, 0x3", "mount a\\x1b on /mnt"});
}

#ifdef __x86_64__
TEST_CASE("calls of the x32 and i386 ABIs are refused and named", "[notify]") {
  Seen seen = watch({}, [] {
    EXPECT_ERROR(EPERM, ::syscall(0x40000000 | SYS_getpid));
    ::signal(SIGSEGV, SIG_DFL);  // not a sanitizer's: the test looks for the signal
    int result = 20;             // getpid
    asm volatile("int $0x80" : "+a"(result) : : "memory");
    return result == -EPERM ? 0 : 1;
  });

  if (skipped(seen)) return;
  REQUIRE(!seen.refused.empty());
  CHECK(seen.refused[0] == "x32 getpid ");
  if (seen.signal == SIGSEGV) {
    WARN("SKIPPED in part: this kernel has no i386 calls");
    return;
  }
  CHECK(seen.code == 0);
  REQUIRE(seen.refused.size() == 2);
  CHECK(seen.refused[1] == "i386 getpid ");
}
#endif

TEST_CASE("a job killed while its call waits leaves the listener in order", "[notify]") {
  auto filter = compile_filter(Profile::kDefault);
  auto sockets = sys::seqpacket_pair();
  pid_t child = ::fork();
  if (child == 0)
    live_under(*filter, {}, sockets->theirs.get(),
               [] { return ::socket(AF_INET, SOCK_STREAM, 0) < 0 ? 0 : 1; });
  sockets->theirs.reset();
  int number = 0;
  auto message = sys::receive_message(sockets->ours.get(), sys::writable_bytes_of(number));
  if (!message || message->fds.empty()) {
    ::waitpid(child, nullptr, 0);
    WARN("SKIPPED: this host lets no process load a notifying filter");
    return;
  }
  int listener = message->fds[0].get();
  REQUIRE(::write(sockets->ours.get(), "!", 1) == 1);
  pollfd poll = {.fd = listener, .events = POLLIN, .revents = 0};
  REQUIRE(::poll(&poll, 1, 20'000) == 1);
  auto notice = receive_notice(listener);
  REQUIRE((notice.ok() && notice->has_value()));

  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);

  Ruling ruling = rule(listener, {}, **notice);
  CHECK(!ruling.proceed);
  CHECK(answer(listener, **notice, ruling).ok());
  CHECK(receive_notice(listener).error().code() == EPIPE);
}

TEST_CASE("a pid that the listener cannot express is nobody's, least of all pid 1's", "[notify]") {
  Notice foreign;
  foreign.nr = SYS_socket;
  CHECK(!rule(-1, {.init_pid = 0, .root_fd = -1, .scratch_device = 0}, foreign).proceed);
}
// NOLINTEND(android-cloexec-*)
