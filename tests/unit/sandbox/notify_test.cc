// A real process under a real filter: what it tries, what it is told, what is named.
// NOLINTBEGIN(android-cloexec-*): the children leave at once.
#include "sandbox/notify.h"

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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <vector>

#include "sandbox/seccomp.h"
#include "sandbox/sys/file.h"
#include "sandbox/sys/socket.h"

using namespace sandbox;

namespace {

constexpr int kSkipped = 77;

// A directory on /dev/shm, as the scratch of a cell; nothing else on the test's machine is scratch.
class Scratch {
 public:
  Scratch() : path_(::mkdtemp(name_)) {}
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string operator/(const char* name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  uint64_t device() const {
    struct stat status {};
    return ::stat(path_.c_str(), &status) == 0 ? status.st_dev : 0;
  }

 private:
  char name_[32] = "/dev/shm/zygo-test-XXXXXX";
  std::string path_;
};

struct Seen {
  int code = -1;  // exit code of the child
  int signal = 0;
  std::vector<std::string> refused;  // "call argument"
  int proceeded = 0;
  int quiet = 0;
};

struct Trial {
  Profile profile = Profile::kDefault;
  uint64_t scratch_device = 0;
  bool child_is_init = false;
  std::function<bool()> prepare = [] { return true; };  // in the child, before the filter
};

[[noreturn]] void live_under(const std::string& filter, const Trial& trial, int socket,
                             const std::function<int()>& program) {
  ::alarm(20);
  if (!trial.prepare()) ::_exit(kSkipped);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) ::_exit(kSkipped);
  int listener = load_filter_raw(std::as_bytes(std::span(filter)));
  if (listener < 0) ::_exit(kSkipped);
  if (!sys::send_message(socket, sys::bytes_of(listener), std::span(&listener, 1))) ::_exit(78);
  char go_ahead = 0;  // the parent looks at us in /proc first
  if (::read(socket, &go_ahead, 1) != 1) ::_exit(79);
  ::_exit(program());
}

void serve(int listener, const CellView& cell, Seen* seen) {
  prepare_listener(listener);
  for (;;) {
    pollfd poll = {.fd = listener, .events = POLLIN, .revents = 0};
    if (::poll(&poll, 1, 20'000) <= 0) return;
    auto notice = receive_notice(listener);
    if (!notice) return;  // nobody is left
    if (!*notice) continue;
    Ruling ruling = rule(listener, cell, **notice);
    if (ruling.proceed)
      ++seen->proceeded;
    else if (!ruling.refusal)
      ++seen->quiet;
    else
      seen->refused.push_back(ruling.refusal->call + " " + ruling.refusal->argument);
    REQUIRE(answer(listener, **notice, ruling).ok());
  }
}

Seen watch(const Trial& trial, const std::function<int()>& program) {
  auto filter = compile_filter(trial.profile);
  auto sockets = sys::seqpacket_pair();
  REQUIRE(filter.ok());
  REQUIRE(sockets.ok());
  pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) live_under(*filter, trial, sockets->theirs.get(), program);
  sockets->theirs.reset();

  int number = 0;
  auto message = sys::receive_message(sockets->ours.get(), sys::writable_bytes_of(number));
  Seen seen;
  if (message.ok() && message->fds.size() == 1) {
    auto root = sys::open("/proc/" + std::to_string(child) + "/root", O_PATH);
    REQUIRE(root.ok());
    REQUIRE(::write(sockets->ours.get(), "!", 1) == 1);
    CellView cell = {.init_pid = trial.child_is_init ? child : -1,
                     .root_fd = root->get(),
                     .scratch_device = trial.scratch_device,
                     .profile = trial.profile};
    serve(message->fds[0].get(), cell, &seen);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  seen.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  seen.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return seen;
}

bool skipped(const Seen& seen) {
  if (seen.code == kSkipped)
    WARN("SKIPPED: this host lets no process load a notifying filter, or mount");
  return seen.code == kSkipped;
}

using Words = std::vector<std::string>;

// In a child: what went wrong, in words for the log; a program then ends with 1.
int failed(int line) {
  ::dprintf(2, "notify_test.cc:%d: in the child: %s\n", line, std::strerror(errno));
  return 1;
}
#define EXPECT_ERROR(error, call) \
  if ((call) >= 0 || errno != (error)) return failed(__LINE__)
#define EXPECT_SUCCESS(call) \
  if ((call) < 0) return failed(__LINE__)

}  // namespace

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
    int result = 20;  // getpid
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

TEST_CASE("files may be made, changed and removed in scratch", "[notify][files]") {
  Scratch scratch;
  Trial trial = {.scratch_device = scratch.device()};
  trial.prepare = [&] { return ::chdir(scratch.path().c_str()) == 0; };

  Seen seen = watch(trial, [&] {
    int here = ::open(".", O_RDONLY | O_DIRECTORY);
    EXPECT_SUCCESS(::openat(here, "f", O_CREAT | O_WRONLY, 0600));
    EXPECT_SUCCESS(::open((scratch / "f").c_str(), O_WRONLY | O_TRUNC));
    EXPECT_SUCCESS(::renameat(here, "f", AT_FDCWD, "g"));
    EXPECT_SUCCESS(::fchmodat(here, "g", 0640, 0));
    EXPECT_SUCCESS(::mkdirat(here, "d/", 0700));
    EXPECT_SUCCESS(::unlinkat(here, "d/", AT_REMOVEDIR));
    EXPECT_SUCCESS(::unlinkat(here, "g", 0));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.proceeded == 7);
  CHECK(seen.refused.empty());
}

TEST_CASE("outside scratch the attempt is refused with its path, also through a link",
          "[notify][files]") {
  Scratch scratch;
  Trial trial = {.scratch_device = scratch.device()};
  trial.prepare = [&] { return ::chdir(scratch.path().c_str()) == 0; };

  Seen seen = watch(trial, [] {
    EXPECT_SUCCESS(::open("f", O_CREAT | O_WRONLY, 0600));
    EXPECT_SUCCESS(::symlinkat("/zygo-must-not-exist", AT_FDCWD, "out"));
    EXPECT_ERROR(EPERM, ::open("out", O_CREAT | O_WRONLY, 0600));
    EXPECT_ERROR(EPERM, ::open("/etc/passwd", O_WRONLY));
    EXPECT_ERROR(EPERM, ::open("../../../etc/zygo-new", O_CREAT | O_WRONLY, 0600));
    EXPECT_ERROR(EPERM, ::unlinkat(AT_FDCWD, "/etc/passwd", 0));
    EXPECT_ERROR(EPERM, ::renameat(AT_FDCWD, "f", AT_FDCWD, "/etc/f"));
    EXPECT_ERROR(EPERM, ::open("/proc/self/oom_score_adj", O_WRONLY));
    EXPECT_SUCCESS(::unlinkat(AT_FDCWD, "out", 0));
    EXPECT_SUCCESS(::unlinkat(AT_FDCWD, "f", 0));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  std::string far = scratch.path() + "/../../../etc/zygo-new";
  CHECK(seen.refused == Words{"openat " + (scratch / "out"), "openat /etc/passwd", "openat " + far,
                              "unlinkat /etc/passwd", "renameat /etc/f",
                              "openat /proc/self/oom_score_adj"});
}

TEST_CASE("an attempt on a file that the image does not have is an attempt all the same",
          "[notify][files]") {
  Scratch scratch;
  std::string missing = scratch / "missing";

  Seen seen = watch({.scratch_device = scratch.device()}, [&] {
    EXPECT_ERROR(EPERM, ::unlinkat(AT_FDCWD, "/etc/zygo-missing", 0));
    EXPECT_ERROR(EPERM, ::open("/etc/zygo-missing", O_RDWR));
    EXPECT_ERROR(EPERM, ::open("/zygo-missing/x", O_RDWR | O_CREAT, 0600));
    EXPECT_ERROR(ENOENT, ::unlinkat(AT_FDCWD, missing.c_str(), 0));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused ==
        Words{"unlinkat /etc/zygo-missing", "openat /etc/zygo-missing", "openat /zygo-missing/x"});
}

TEST_CASE("honest programs that fail by themselves are not blamed", "[notify][files]") {
  Scratch scratch;

  Seen seen = watch({.scratch_device = scratch.device()}, [] {
    EXPECT_ERROR(EEXIST, ::mkdirat(AT_FDCWD, "/etc", 0700));
    EXPECT_ERROR(ENOENT, ::open("", O_RDWR));
    EXPECT_ERROR(EFAULT, ::syscall(SYS_openat, AT_FDCWD, 8, O_RDWR));
    EXPECT_SUCCESS(::open("/dev/null", O_RDWR | O_CREAT | O_TRUNC, 0600));
    int null = ::open("/dev/null", O_WRONLY);
    EXPECT_SUCCESS(::open(("/dev/fd/" + std::to_string(null)).c_str(), O_WRONLY));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused.empty());
}

TEST_CASE("pure writes nowhere but to devices that swallow", "[notify][files]") {
  Scratch scratch;

  Seen seen = watch({.profile = Profile::kPure, .scratch_device = scratch.device()}, [&] {
    EXPECT_SUCCESS(::open("/dev/null", O_WRONLY));
    EXPECT_SUCCESS(::open(scratch.path().c_str(), O_RDONLY));
    EXPECT_ERROR(EPERM, ::open((scratch / "f").c_str(), O_CREAT | O_WRONLY, 0600));
    EXPECT_ERROR(EPERM, ::syscall(SYS_openat, AT_FDCWD, 8, O_RDWR));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused == Words{"openat " + (scratch / "f"), "openat unreadable"});
}

TEST_CASE("in a mount namespace the job's own tree counts, not ours", "[notify][files]") {
  Scratch
      scratch;  // becomes the root of the namespace; its "tmp" another tmpfs, the cell's scratch
  Trial trial;
  trial.prepare = [&] {
    std::string root = scratch.path();
    return ::unshare(CLONE_NEWNS) == 0 &&
           ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount("none", root.c_str(), "tmpfs", 0, nullptr) == 0 && ::chdir(root.c_str()) == 0 &&
           ::mkdir("tmp", 0700) == 0 && ::mkdir("etc", 0700) == 0 &&
           ::mount("none", "tmp", "tmpfs", 0, nullptr) == 0 &&
           ::syscall(SYS_pivot_root, ".", ".") == 0 && ::umount2(".", MNT_DETACH) == 0 &&
           ::chdir("/tmp") == 0;
  };
  // Its device number is known only afterwards: nothing is scratch here.
  Seen seen = watch(trial, [] {
    EXPECT_ERROR(EPERM, ::open("here", O_CREAT | O_WRONLY, 0600));
    EXPECT_ERROR(EPERM, ::open("../etc/there", O_CREAT | O_WRONLY, 0600));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused == Words{"openat /tmp/here", "openat /tmp/../etc/there"});
}

TEST_CASE("in a plain chroot the paths of a job start at its own root", "[notify][files]") {
  Scratch scratch;
  Trial trial;
  trial.prepare = [&] {
    ::mkdir((scratch / "sub").c_str(), 0700);
    return ::chroot(scratch.path().c_str()) == 0 && ::chdir("/sub") == 0;
  };

  Seen seen = watch(trial, [] {
    EXPECT_ERROR(EPERM, ::open("f", O_CREAT | O_WRONLY, 0600));
    EXPECT_ERROR(EPERM, ::open("/g", O_CREAT | O_WRONLY, 0600));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused == Words{"openat /sub/f", "openat /g"});
}

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
