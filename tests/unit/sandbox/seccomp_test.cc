// The compiled filter of each profile, evaluated in user space.
#include "sandbox/seccomp.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <initializer_list>
#include <map>
#include <set>
#include <vector>

#include "sandbox/profiles.h"
#include "sandbox/syscall_names.h"

using namespace sandbox;

namespace {

constexpr Profile kProfiles[] = {Profile::kPure, Profile::kDefault, Profile::kSubprocess,
                                 Profile::kBuild};
constexpr Action kGo = {SECCOMP_RET_ALLOW, 0};
constexpr Action kAsk = {SECCOMP_RET_USER_NOTIF, 0};
constexpr Action quiet(int error) { return {SECCOMP_RET_ERRNO, static_cast<uint16_t>(error)}; }

const std::string& filter_of(Profile profile) {
  static std::map<Profile, std::string> filters;
  std::string& filter = filters[profile];
  if (filter.empty()) {
    sys::Result<std::string> compiled = compile_filter(profile);
    if (!compiled) FAIL(compiled.error().text());
    filter = *compiled;
  }
  return filter;
}

Action run(Profile profile, const seccomp_data& data) {
  return evaluate(std::as_bytes(std::span(filter_of(profile))), data);
}

Action act(Profile profile, const char* name, std::initializer_list<uint64_t> args = {}) {
  CallNumber number = call_number(name);
  REQUIRE(number.known);
  seccomp_data data{};
  data.nr = number.value;
  data.arch = native_arch();
  std::copy(args.begin(), args.end(), data.args);
  return run(profile, data);
}

struct Entry {
  const RuleGroup* group;
  const Rule* rule;
};
using RulesByNumber = std::map<int, std::vector<Entry>>;

RulesByNumber rules_of(Profile profile) {
  RulesByNumber out;
  for (RuleLayer layer : layers_of(profile)) {
    for (const RuleGroup& group : layer) {
      for (const Rule& rule : group.rules) {
        if (group.treatment == Treatment::kNotify) continue;
        out[call_number(rule.call).value].push_back({&group, &rule});
      }
    }
  }
  return out;
}

// What the tables say, without libseccomp.
Action by_the_tables(const std::vector<Entry>& rules, const seccomp_data& data) {
  for (const auto& [group, rule] : rules) {
    bool match = true;
    for (const Condition& c : std::span(rule->when).first(rule->conditions)) {
      match = match && (data.args[c.arg] & c.mask) == c.value;
    }
    if (match) return group->treatment == Treatment::kAllow ? kGo : quiet(group->error);
  }
  return kAsk;
}

// The values that the conditions on one call speak of, and their neighbours.
std::vector<uint64_t> telling_values(const std::vector<Entry>& rules) {
  std::set<uint64_t> values = {0, 1, ~uint64_t{0}, 0xffffffff, uint64_t{1} << 32};
  for (const Entry& entry : rules) {
    for (const Condition& c : entry.rule->when) {
      values.insert({c.value, c.value + 1, c.mask, ~c.mask, c.value | uint64_t{7} << 40,
                     c.value ^ (c.mask & (~c.mask + 1))});
    }
  }
  return {values.begin(), values.end()};
}

// Neighbouring arguments are enough: no rule looks at more than two.
std::vector<seccomp_data> telling_calls(const std::vector<Entry>& rules, int number) {
  std::vector<seccomp_data> calls;
  std::vector<uint64_t> values = telling_values(rules);
  for (uint64_t a : values) {
    for (uint64_t b : values) {
      for (int at : {0, 1, 2, 3, 4}) {
        seccomp_data data{};
        data.nr = number;
        data.arch = native_arch();
        data.args[at] = a;
        data.args[at + 1] = b;
        calls.push_back(data);
      }
    }
  }
  return calls;
}

}  // namespace

TEST_CASE("the compiled filter does what the tables say, whatever the arguments", "[seccomp]") {
  for (Profile profile : kProfiles) {
    RulesByNumber rules = rules_of(profile);
    size_t wrong = 0;
    for (int number = 0; number < 480; ++number) {
      for (const seccomp_data& data : telling_calls(rules[number], number)) {
        if (run(profile, data) == by_the_tables(rules[number], data)) continue;
        if (wrong++ == 0) {
          UNSCOPED_INFO(name_of(profile) << ": " << name_of_call(data.arch, data.nr) << " "
                                         << std::hex << data.args[0] << " " << data.args[1] << " "
                                         << data.args[2] << " " << data.args[3]);
        }
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("no rule of a profile hides another one of the same call", "[seccomp]") {
  for (Profile profile : kProfiles) {
    std::map<std::string, std::pair<int, bool>> seen;  // count, any of them unconditional
    for (RuleLayer layer : layers_of(profile)) {
      for (const RuleGroup& group : layer) {
        if (group.treatment == Treatment::kNotify) continue;
        for (const Rule& rule : group.rules) {
          auto& [count, bare] = seen[rule.call];
          ++count;
          bare = bare || rule.conditions == 0;
        }
      }
    }
    for (const auto& [name, rules] : seen) {
      INFO(name_of(profile) << ": " << name);
      CHECK((!rules.second || rules.first == 1));
    }
  }
}

TEST_CASE("calls that are written down as notified are notified in every profile", "[seccomp]") {
  for (Profile profile : kProfiles) {
    for (const RuleGroup& group : layers_of(profile)[0]) {
      if (group.treatment != Treatment::kNotify) continue;
      for (const Rule& rule : group.rules) {
        if (call_number(rule.call).value < 0) continue;
        if (std::string_view(rule.call) == "io_uring_setup") continue;  // quiet where libuv runs
        INFO(name_of(profile) << ": " << rule.call);
        CHECK(act(profile, rule.call) == kAsk);
      }
    }
  }
}

TEST_CASE("a call nobody has heard of is notified", "[seccomp]") {
  for (Profile profile : kProfiles) {
    for (int number : {470, 999, 0x3fffffff, -1}) {
      seccomp_data data{};
      data.nr = number;
      data.arch = native_arch();
      CHECK(run(profile, data) == kAsk);
    }
  }
}

TEST_CASE("calls of foreign ABIs are notified, also where the number is harmless in ours",
          "[seccomp]") {
  for (Profile profile : kProfiles) {
    for (int number = 0; number < 450; ++number) {
      seccomp_data data{};
      data.nr = number;
      data.arch = native_arch() == AUDIT_ARCH_X86_64 ? AUDIT_ARCH_I386 : AUDIT_ARCH_ARM;
      REQUIRE(run(profile, data) == kAsk);
      if (native_arch() != AUDIT_ARCH_X86_64) continue;
      data.arch = AUDIT_ARCH_X86_64;
      data.nr = number | 0x40000000;  // x32
      REQUIRE(run(profile, data) == kAsk);
    }
  }
}

TEST_CASE("every profile computes, and none connects", "[seccomp]") {
  for (Profile profile : kProfiles) {
    for (const char* name : {"read", "write", "futex", "brk", "munmap", "exit_group", "getrandom",
                             "statx", "faccessat2", "newfstatat", "membarrier", "rseq", "kill",
                             "close_range", "setresuid", "landlock_restrict_self", "waitid"}) {
      INFO(name);
      CHECK(act(profile, name) == kGo);
    }
    CHECK(act(profile, "socket", {AF_INET, SOCK_STREAM}) == kAsk);
    CHECK(act(profile, "socket", {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC}) == kAsk);
    CHECK(act(profile, "socket", {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK}) ==
          quiet(EACCES));
    CHECK(act(profile, "connect", {3, 0x1000, 16}) == kAsk);
    CHECK(act(profile, "sendto", {3, 0x1000, 16, 0, 0, 0}) == kGo);
    CHECK(act(profile, "sendto", {3, 0x1000, 16, 0, 0x1000, 16}) == kAsk);
    CHECK(act(profile, "socketpair", {AF_UNIX, SOCK_DGRAM}) == kAsk);
    CHECK(act(profile, "socketpair", {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC}) ==
          (profile == Profile::kPure ? kAsk : kGo));
  }
}

TEST_CASE("clone makes threads from default on, processes from subprocess on, namespaces never",
          "[seccomp]") {
  constexpr uint64_t kThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                               CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |
                               CLONE_CHILD_CLEARTID;
  constexpr uint64_t kVfork = CLONE_VM | CLONE_VFORK | SIGCHLD;
  constexpr uint64_t kForbidden[] = {CLONE_PARENT, CLONE_PTRACE, CLONE_NEWUSER,
                                     CLONE_NEWNS,  CLONE_NEWPID, CLONE_NEWNET,
                                     CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP};
  for (Profile profile : kProfiles) {
    bool threads = profile != Profile::kPure;
    bool processes = threads && profile != Profile::kDefault;
    CHECK(act(profile, "clone", {kThread}) == (threads ? kGo : kAsk));
    CHECK(act(profile, "clone", {kThread | uint64_t{1} << 32}) == (threads ? kGo : kAsk));
    CHECK(act(profile, "clone", {CLONE_THREAD}) == kAsk);
    for (uint64_t flags : {uint64_t{SIGCHLD}, kVfork, uint64_t{SIGCHLD | CLONE_PIDFD}}) {
      CHECK(act(profile, "clone", {flags}) == (processes ? kGo : kAsk));
    }
    for (uint64_t flag : kForbidden) {
      CHECK(act(profile, "clone", {SIGCHLD | flag}) == kAsk);
      CHECK(act(profile, "clone", {kThread | flag}) == kAsk);
      CHECK(act(profile, "clone", {kVfork | flag | uint64_t{1} << 40}) == kAsk);
    }
    CHECK(act(profile, "clone3", {0x1000, 88}) == quiet(ENOSYS));
    CHECK(act(profile, "execve", {0x1000}) == (processes ? kGo : kAsk));
    CHECK(act(profile, "execveat", {3, 0x1000}) == (processes ? kGo : kAsk));
  }
}

TEST_CASE("files open to be read; every other open is asked about", "[seccomp]") {
  constexpr uint64_t kHere = 0xffffff9c;  // AT_FDCWD
  for (Profile profile : kProfiles) {
    for (int flags : {O_RDONLY, O_RDONLY | O_CLOEXEC, O_PATH, O_DIRECTORY, O_NOFOLLOW | O_NONBLOCK,
                      O_RDONLY | O_APPEND}) {
      CHECK(act(profile, "openat", {kHere, 0x1000, static_cast<uint64_t>(flags)}) == kGo);
    }
    for (int flags : {O_WRONLY, O_RDWR, O_RDONLY | O_CREAT, O_RDONLY | O_TRUNC, O_ACCMODE,
                      O_TMPFILE | O_RDWR}) {
      CHECK(act(profile, "openat", {kHere, 0x1000, static_cast<uint64_t>(flags)}) == kAsk);
    }
    CHECK(act(profile, "openat2", {kHere, 0x1000, 0x2000, 24}) == quiet(ENOSYS));
    CHECK(act(profile, "utimensat", {3, 0, 0x1000, 0}) == kGo);
    CHECK(act(profile, "utimensat", {kHere, 0x1000, 0x2000, 0}) == kAsk);
    CHECK(act(profile, "ftruncate", {3, 0}) == kGo);
    CHECK(act(profile, "unlinkat", {kHere, 0x1000, 0}) == kAsk);
  }
}

TEST_CASE("calls that could name another process name only the caller", "[seccomp]") {
  for (Profile profile : kProfiles) {
    CHECK(act(profile, "prlimit64", {0, 0, 0x1000, 0}) == kGo);
    CHECK(act(profile, "prlimit64", {1, 0, 0x1000, 0}) == kAsk);
    CHECK(act(profile, "prlimit64", {1 | uint64_t{1} << 32, 0, 0x1000, 0}) == kAsk);
    CHECK(act(profile, "setpriority", {0, 0, 19}) == kGo);
    CHECK(act(profile, "setpriority", {0, 1, 19}) == kAsk);
    CHECK(act(profile, "ioprio_set", {1, 0, 0}) == kGo);
    CHECK(act(profile, "ioprio_set", {1, 1, 0}) == kAsk);
    CHECK(act(profile, "sched_setscheduler", {0, SCHED_IDLE, 0x1000}) == kGo);
    CHECK(act(profile, "sched_setscheduler", {1, SCHED_IDLE, 0x1000}) == kAsk);
    CHECK(act(profile, "sched_setaffinity", {0, 8, 0x1000}) == quiet(EPERM));
    CHECK(act(profile, "personality", {0xffffffff}) == kGo);
    CHECK(act(profile, "personality", {0x40000}) == kAsk);
  }
}

TEST_CASE("prctl, fcntl and ioctl go by the command", "[seccomp]") {
  for (Profile profile : kProfiles) {
    for (int option : {PR_SET_NAME, PR_GET_NAME, PR_SET_PDEATHSIG, PR_GET_DUMPABLE,
                       PR_SET_NO_NEW_PRIVS, PR_CAPBSET_READ, PR_CAPBSET_DROP, PR_SET_TIMERSLACK}) {
      CHECK(act(profile, "prctl", {static_cast<uint64_t>(option), 5}) == kGo);
    }
    for (int option : {PR_SET_SECCOMP, PR_SET_MM, PR_SET_KEEPCAPS, PR_SET_SECUREBITS, 9999}) {
      CHECK(act(profile, "prctl", {static_cast<uint64_t>(option), 1}) == kAsk);
    }
    CHECK(act(profile, "prctl", {PR_SET_DUMPABLE, 0}) == kGo);
    CHECK(act(profile, "prctl", {PR_SET_DUMPABLE, 1}) == kAsk);
    CHECK(act(profile, "fcntl", {0, F_SETFL, O_NONBLOCK}) == kGo);
    CHECK(act(profile, "fcntl", {0, F_SETOWN, 1}) == quiet(EPERM));
    CHECK(act(profile, "fcntl", {0, F_SETPIPE_SZ | uint64_t{9} << 32, 1}) == quiet(EPERM));
    CHECK(act(profile, "ioctl", {0, TCGETS}) == kGo);
    CHECK(act(profile, "ioctl", {0, FIONBIO}) == kGo);
    CHECK(act(profile, "ioctl", {0, TIOCSTI}) == kAsk);
    CHECK(act(profile, "ioctl", {0, TIOCSTI | uint64_t{1} << 32}) == kAsk);
    CHECK(act(profile, "ioctl", {0, TIOCLINUX}) == kAsk);
  }
}

TEST_CASE("huge pages of the host are refused as if it had none", "[seccomp]") {
  for (Profile profile : kProfiles) {
    CHECK(act(profile, "mmap", {0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS}) == kGo);
    CHECK(act(profile, "mmap", {0, 4096, 3, MAP_PRIVATE | MAP_HUGETLB}) == quiet(ENOMEM));
  }
}

TEST_CASE("a program the kernel would not accept kills, and evaluation ends", "[seccomp]") {
  std::string broken(8 * 100, '\x05');  // jumps far out
  std::string endless(8 * 100, '\0');   // loads, never returns

  CHECK(evaluate(std::as_bytes(std::span(broken)), {}).action == SECCOMP_RET_KILL_PROCESS);
  CHECK(evaluate(std::as_bytes(std::span(endless)), {}).action == SECCOMP_RET_KILL_PROCESS);
  CHECK(evaluate({}, {}).action == SECCOMP_RET_KILL_PROCESS);
}

TEST_CASE("calls have names, in foreign ABIs and without one", "[seccomp]") {
  CHECK(name_of_call(native_arch(), call_number("openat").value) == "openat");
  CHECK(name_of_call(native_arch(), 462) == "mseal");
  CHECK(name_of_call(native_arch(), 9999) == "call 9999");
  CHECK(name_of_call(native_arch(), -1) == "call -1");
  CHECK(!call_number("no_such_call").known);
  if (native_arch() == AUDIT_ARCH_X86_64) {
    CHECK(name_of_call(AUDIT_ARCH_I386, 102) == "i386 socketcall");
    CHECK(name_of_call(AUDIT_ARCH_X86_64, 0x40000000 | 41) == "x32 socket");
  }
}
