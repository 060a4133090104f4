// Processes under filters that count, compare and trap: what the daemon is asked, and what it hears
// of calls that a filter around the job answers first.
// NOLINTBEGIN(android-cloexec-*): the children leave at once.
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>

#include "sandbox/seccomp/report.h"
#include "sandbox/seccomp/syscall_names.h"
#include "tests/unit/sandbox/notify/trial.h"

using namespace sandbox;
using namespace sandbox::test;

namespace {

Trial counting(bool FilterVariant::*flag, Profile profile = Profile::kSubprocess) {
  Trial trial;
  trial.profile = profile;
  trial.variant.*flag = true;
  return trial;
}

Ruling agree(const Ruling&) { return go_on(); }
Ruling too_many(const Ruling&) { return fail_quietly(EAGAIN); }

Notice native_notice(int number, std::initializer_list<uint64_t> args) {
  Notice notice;
  notice.nr = number;
  notice.arch = native_arch();
  std::copy(args.begin(), args.end(), notice.args);
  return notice;
}

CellView cell_of(Profile profile) {
  CellView cell;
  cell.profile = profile;
  return cell;
}

Notice report_of(int number, std::initializer_list<uint64_t> args) {
  Notice report = native_notice(
      kTrapReportCall, {uint64_t{static_cast<uint32_t>(number)} << 32 | kTrapReportOption});
  std::copy(args.begin(), args.end(), report.args + 1);
  return report;
}

}  // namespace

// ---- asking ------------------------------------------------------------------------------------

TEST_CASE("where processes are counted, one that is let through runs, and is no violation",
          "[notify][variant]") {
  Trial trial = counting(&FilterVariant::count_processes);
  trial.decide = agree;

  Seen seen = watch(trial, [] {
    long child = ::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    EXPECT_SUCCESS(child);
    if (child == 0) ::_exit(3);
    int status = 0;
    EXPECT_SUCCESS(::waitpid(static_cast<pid_t>(child), &status, 0));
    return WEXITSTATUS(status) == 3 ? 0 : 1;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused.empty());
  REQUIRE(seen.asked.size() == 1);
  CHECK(seen.asked[0].asks == Asks::kProcess);
}

TEST_CASE("one process too many fails as the kernel would have it, and is no violation",
          "[notify][variant]") {
  Trial trial = counting(&FilterVariant::count_processes);
  trial.decide = too_many;

  Seen seen = watch(trial, [] {
    EXPECT_ERROR(EAGAIN, ::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
#ifdef SYS_fork
    EXPECT_ERROR(EAGAIN, ::syscall(SYS_fork));
#endif
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused.empty());
  for (const Ruling& ruling : seen.asked) CHECK(ruling.asks == Asks::kProcess);
}

TEST_CASE("threads are counted as well", "[notify][variant]") {
  Trial trial = counting(&FilterVariant::count_processes, Profile::kDefault);
  trial.decide = agree;

  Seen seen = watch(trial, [] {
    pthread_t thread{};
    int error = ::pthread_create(
        &thread, nullptr, [](void* p) { return p; }, nullptr);
    return error != 0 ? error : ::pthread_join(thread, nullptr);
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused.empty());
  REQUIRE(seen.asked.size() == 1);
  CHECK(seen.asked[0].asks == Asks::kProcess);
}

TEST_CASE("counting excuses nothing: what the profile refuses is refused and named",
          "[notify][variant]") {
  Trial trial = counting(&FilterVariant::count_processes, Profile::kDefault);
  trial.decide = agree;

  Seen seen = watch(trial, [] {
    EXPECT_ERROR(EPERM, ::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    EXPECT_ERROR(EPERM, ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
    EXPECT_ERROR(EPERM, ::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.asked.empty());
  CHECK(seen.refused == Words{"clone new process", "clone CLONE_NEWUSER", "clone CLONE_PARENT"});
}

TEST_CASE("pid 1 of a cell that counts still forks unasked", "[notify][variant]") {
  Trial trial = counting(&FilterVariant::count_processes, Profile::kPure);
  trial.child_is_init = true;

  Seen seen = watch(trial, [] {
    long child = ::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    EXPECT_SUCCESS(child);
    if (child == 0) ::_exit(0);
    EXPECT_SUCCESS(::waitpid(static_cast<pid_t>(child), nullptr, 0));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.asked.empty());
  CHECK(seen.proceeded == 1);
}

TEST_CASE("files in memory are counted where the profile has them", "[notify][variant]") {
  Trial trial = counting(&FilterVariant::count_memfds, Profile::kSubprocess);
  trial.decide = agree;

  Seen seen = watch(trial, [] {
    EXPECT_SUCCESS(::memfd_create("mine", MFD_CLOEXEC));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  REQUIRE(seen.asked.size() == 1);
  CHECK(seen.asked[0].asks == Asks::kMemfd);
}

TEST_CASE("pipes are counted where cells have one uid", "[notify][variant]") {
  Trial trial = counting(&FilterVariant::count_pipes, Profile::kPure);
  trial.decide = [asked = 0](const Ruling&) mutable {
    return ++asked < 3 ? go_on() : sandbox::fail_quietly(EMFILE);
  };

  Seen seen = watch(trial, [] {
    int ends[2];
    EXPECT_SUCCESS(::pipe(ends));
    EXPECT_SUCCESS(::pipe2(ends, O_CLOEXEC));
    return ::pipe(ends) < 0 && errno == EMFILE ? 0 : 9;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  REQUIRE(seen.asked.size() == 3);
  CHECK(seen.asked[2].asks == Asks::kPipe);
}

TEST_CASE("with the uid of others a job signals itself by leave only", "[notify][variant]") {
  Trial trial = counting(&FilterVariant::shared_uid, Profile::kDefault);
  trial.decide = [](const Ruling& asked) { return asked.signal.signal == 0 ? go_on() : asked; };

  Seen seen = watch(trial, [] {
    EXPECT_SUCCESS(::kill(::getpid(), 0));
    EXPECT_ERROR(EPERM, ::kill(-1, SIGKILL));
    EXPECT_ERROR(EPERM, ::syscall(SYS_tgkill, 1, 2, SIGTERM));
    EXPECT_ERROR(EPERM, ::syscall(SYS_tkill, 3, SIGSTOP));
    EXPECT_ERROR(EPERM, ::syscall(SYS_pidfd_send_signal, 4, SIGHUP, nullptr, 0));
    EXPECT_ERROR(EPERM, ::setsid());
    EXPECT_ERROR(EPERM, ::setpgid(0, 0));
    EXPECT_ERROR(EPERM, ::syscall(SYS_pidfd_open, 1, 0));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  using To = SignalAsked::To;
  REQUIRE(seen.asked.size() == 5);
  CHECK(seen.asked[1].signal == SignalAsked{To::kProcess, -1, 0, SIGKILL});
  CHECK(seen.asked[2].signal == SignalAsked{To::kThread, 2, 1, SIGTERM});
  CHECK(seen.asked[3].signal == SignalAsked{To::kThread, 3, 0, SIGSTOP});
  CHECK(seen.asked[4].signal == SignalAsked{To::kPidfd, 4, 0, SIGHUP});
  CHECK(seen.refused == Words{"kill pid -1 SIGKILL", "tgkill pid 2 SIGTERM", "tkill pid 3 SIGSTOP",
                              "pidfd_send_signal pidfd 4 SIGHUP", "setsid ",
                              "setpgid pid 0 group 0", "pidfd_open pid 1"});
}

TEST_CASE("queued signals are asked about as sent ones, garbage in the registers or not",
          "[notify][variant]") {
  constexpr uint64_t kGarbage = 0xdeadbeef00000000;
  using To = SignalAsked::To;
  const CellView cell = cell_of(Profile::kDefault);

  Ruling process =
      rule(-1, cell, native_notice(SYS_rt_sigqueueinfo, {kGarbage | 7, kGarbage | SIGUSR1, 0}));
  Ruling thread = rule(-1, cell, native_notice(SYS_rt_tgsigqueueinfo, {7, 8, SIGUSR2, 0}));

  CHECK(process.asks == Asks::kSignal);
  CHECK(process.signal == SignalAsked{To::kProcess, 7, 0, SIGUSR1});
  CHECK(thread.asks == Asks::kSignal);
  CHECK(thread.signal == SignalAsked{To::kThread, 8, 7, SIGUSR2});
  CHECK(!process.proceed);
  CHECK(process.refusal.has_value());
}

TEST_CASE("a job that stays dumpable is told that it is not, and nobody is asked",
          "[notify][variant]") {
  Seen seen = watch(counting(&FilterVariant::dumpable, Profile::kPure), [] {
    EXPECT_SUCCESS(::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
    EXPECT_SUCCESS(::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
    return ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1 ? 0 : 1;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused.empty());
}

// ---- reports of traps --------------------------------------------------------------------------

TEST_CASE("the report of a trap is ruled on as the call itself would have been",
          "[notify][variant]") {
  const CellView cell = cell_of(Profile::kDefault);
  struct Case {
    int number;
    std::initializer_list<uint64_t> args;
    const char* words;
  };
  const Case cases[] = {
      {SYS_unshare, {CLONE_NEWUSER | CLONE_NEWNET}, "unshare CLONE_NEWUSER|CLONE_NEWNET"},
      {SYS_clone, {CLONE_NEWPID | SIGCHLD}, "clone CLONE_NEWPID"},
      {SYS_ptrace, {16, 42}, "ptrace PTRACE_ATTACH pid 42"},
      {SYS_bpf, {1, 2, 3}, "bpf 0x1, 0x2, 0x3"},
      {SYS_setns, {3, CLONE_NEWNS}, "setns CLONE_NEWNS"},
      {SYS_vhangup, {}, "vhangup "},
      {999, {1, 2, 3}, "call 999 0x1, 0x2, 0x3"},
      {-1, {1, 2, 3}, "call -1 0x1, 0x2, 0x3"},
  };
  for (const Case& one : cases) {
    Ruling itself = rule(-1, cell, native_notice(one.number, one.args));
    Ruling report = rule(-1, cell, report_of(one.number, one.args));

    INFO(one.words);
    REQUIRE(report.refusal.has_value());
    CHECK(report.refusal == itself.refusal);
    CHECK(!report.proceed);
  }
}

TEST_CASE("the report of a call that the profile allows lets nothing through and blames nobody",
          "[notify][variant]") {
  const CellView cell = cell_of(Profile::kSubprocess);
  for (int number : {SYS_kill, SYS_clone, SYS_memfd_create}) {
    Ruling ruling = rule(-1, cell, report_of(number, {0, 0}));

    CHECK(!ruling.proceed);
    CHECK(!ruling.refusal);
    CHECK(ruling.asks == Asks::kNothing);
    CHECK(ruling.error == EPERM);
  }
}

TEST_CASE("other options of prctl, foreign ones too, are no reports, nor is a report of a report",
          "[notify][variant]") {
  const CellView cell = cell_of(Profile::kDefault);
  Notice other = report_of(SYS_unshare, {CLONE_NEWUSER});
  other.args[0] ^= 1;
  Notice foreign = report_of(SYS_unshare, {CLONE_NEWUSER});
  foreign.arch = native_arch() == AUDIT_ARCH_X86_64 ? AUDIT_ARCH_I386 : AUDIT_ARCH_ARM;
  Notice nested = report_of(kTrapReportCall, {report_of(SYS_unshare, {}).args[0], 1});

  CHECK(rule(-1, cell, other).refusal->call == "prctl");
  CHECK(rule(-1, cell, foreign).refusal->call != "unshare");
  CHECK(rule(-1, cell, nested).refusal->call == "prctl");
}

#ifdef __x86_64__
namespace {

// A filter around the job, as a container engine's: mount and namespaces fail with an errno.
bool surround() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mount, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x7E020000, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSPC),
  };
  sock_fprog loaded = {.len = std::size(program), .filter = program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &loaded) == 0;
}

void report(int, siginfo_t* info, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  auto at = [&](int i) { return static_cast<uint64_t>(registers[i]); };
  const uint64_t args[6] = {at(REG_RDI), at(REG_RSI), at(REG_RDX),
                            at(REG_R10), at(REG_R8),  at(REG_R9)};
  if (info->si_errno != kTrapMark) ::_exit(80);
  const long answer = report_trap(info->si_syscall, args);
  registers[REG_RAX] = answer < 0 ? -errno : -ENOTRECOVERABLE;
}

}  // namespace

TEST_CASE("what a filter around the job refuses is named all the same, once it is trapped",
          "[notify][variant]") {
  Trial trial;
  trial.variant.masked = {SYS_mount};
  trial.variant.masked_clone_flags = true;
  trial.prepare = [] {
    struct sigaction action {};
    action.sa_sigaction = report;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    return ::sigaction(SIGSYS, &action, nullptr) == 0 && surround();
  };

  Seen seen = watch(trial, [] {
    EXPECT_ERROR(EPERM, ::mount("a", "/mnt", "tmpfs", 0, nullptr));
    EXPECT_ERROR(EPERM, ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
    EXPECT_ERROR(EPERM, ::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    EXPECT_ERROR(EPERM, ::umount2("/mnt", 0));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused ==
        Words{"mount a on /mnt", "clone CLONE_NEWUSER", "clone new process", "umount2 /mnt"});
}

TEST_CASE("without the trap such a call fails unnamed: the reason for all this",
          "[notify][variant]") {
  Trial trial;
  trial.prepare = surround;

  Seen seen = watch(trial, [] {
    EXPECT_ERROR(ENOSPC, ::mount("a", "/mnt", "tmpfs", 0, nullptr));
    EXPECT_ERROR(EPERM, ::umount2("/mnt", 0));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused == Words{"umount2 /mnt"});
}
#endif
// NOLINTEND(android-cloexec-*)
