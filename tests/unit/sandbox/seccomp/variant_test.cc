// Filters for hosts that lack something: what changes against the default one, and what does not.
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <csignal>
#include <set>

#include "tests/unit/sandbox/seccomp/filter.h"

using namespace sandbox;
using namespace sandbox::test;

namespace {

constexpr uint64_t kThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
constexpr uint64_t kNamespaces[] = {CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWPID,   CLONE_NEWNET,
                                    CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP};

int number_of(const char* name) { return call_number(name).value; }

// Calls with arguments 0, and with all bits set, that two filters treat differently.
std::vector<std::string> changed(Profile profile, const FilterVariant& variant) {
  std::vector<std::string> names;
  for (int number = 0; number < 480; ++number) {
    const auto same = [&](const seccomp_data& data) {
      return run(filter_of(profile), data) == run(filter_of(profile, variant), data);
    };
    if (same(native_call(number)) && same(native_call(number, {~0UL, ~0UL, ~0UL, ~0UL}))) continue;
    names.push_back(name_of_call(native_arch(), number));
  }
  return names;
}

}  // namespace

TEST_CASE("what an outer filter masks is trapped where it was notified, and nothing else is",
          "[seccomp][variant]") {
  const FilterVariant masked = masking({number_of("mount"), number_of("unshare"), number_of("read"),
                                        number_of("clone3"), number_of("openat")});
  for (Profile profile : kProfiles) {
    const std::string& filter = filter_of(profile, masked);

    CHECK(act(filter, "mount", {1, 2, 3}) == kTrapped);
    CHECK(act(filter, "unshare", {CLONE_NEWUSER}) == kTrapped);
    CHECK(act(filter, "openat", {0, 0x1000, O_RDWR}) == kTrapped);
    CHECK(act(filter, "openat", {0, 0x1000, O_RDONLY}) == kGo);
    CHECK(act(filter, "read") == kGo);
    CHECK(act(filter, "clone3") == quiet(ENOSYS));
    CHECK(act(filter, "umount2") == kAsk);
    CHECK(act(filter, "clone", {CLONE_NEWUSER | SIGCHLD}) == kAsk);
    CHECK(changed(profile, masked) == std::vector<std::string>{"mount", "openat", "unshare"});
  }
}

TEST_CASE("masking leaves foreign ABIs notified, whatever their numbers", "[seccomp][variant]") {
  FilterVariant masked = masking({number_of("mount")});
  masked.masked_clone_flags = true;
  for (Profile profile : kProfiles) {
    for (int number = 0; number < 450; ++number) {
      seccomp_data data = native_call(number, {CLONE_NEWUSER});
      data.arch = native_arch() == AUDIT_ARCH_X86_64 ? AUDIT_ARCH_I386 : AUDIT_ARCH_ARM;
      REQUIRE(run(filter_of(profile, masked), data) == kAsk);
      if (native_arch() != AUDIT_ARCH_X86_64) continue;
      data = native_call(number | 0x40000000, {CLONE_NEWUSER});
      REQUIRE(run(filter_of(profile, masked), data) == kAsk);
    }
  }
}

TEST_CASE("clone with a namespace flag is trapped where an outer filter denies it by flag",
          "[seccomp][variant]") {
  FilterVariant masked;
  masked.masked_clone_flags = true;
  for (Profile profile : kProfiles) {
    const std::string& filter = filter_of(profile, masked);
    for (uint64_t flag : kNamespaces) {
      CHECK(act(filter, "clone", {flag | SIGCHLD}) == kTrapped);
      CHECK(act(filter, "clone", {flag | kThread | uint64_t{3} << 40}) == kTrapped);
    }
    CHECK(act(filter, "clone", {CLONE_PARENT | SIGCHLD}) == kAsk);
    CHECK(act(filter, "clone", {kThread}) == act(profile, "clone", {kThread}));
    CHECK(act(filter, "clone", {SIGCHLD | uint64_t{CLONE_NEWUSER} << 32}) ==
          act(profile, "clone", {SIGCHLD}));
    CHECK(act(filter, "mount", {CLONE_NEWUSER}) == kAsk);
    CHECK(act(filter, "unshare", {CLONE_NEWUSER}) == kAsk);
  }
}

TEST_CASE("everything masked at once still makes a filter that the kernel takes",
          "[seccomp][variant]") {
  FilterVariant masked;
  masked.masked_clone_flags = true;
  for (int number = 0; number < 512; ++number) masked.masked.push_back(number);

  for (Profile profile : kProfiles) {
    const std::string& filter = filter_of(profile, masked);
    CHECK(filter.size() <= size_t{4096} * 8);
    for (int number = 0; number < 512; ++number) {
      Action before = run(filter_of(profile), native_call(number));
      bool traps = before == kAsk && number != kTrapReportCall;
      CHECK(run(filter, native_call(number)) == (traps ? kTrapped : before));
    }
  }
}

TEST_CASE("a filter with more masked calls than the kernel takes instructions is an error",
          "[seccomp][variant]") {
  FilterVariant masked;
  masked.masked.assign(4000, 165);

  auto compiled = compile_filter(Profile::kPure, masked);

  REQUIRE(!compiled.ok());
  CHECK(compiled.error().text() == "filter with 4000 masked calls: longer than the kernel takes");
}

TEST_CASE("where numbers beyond all calls are masked, every one of them is trapped",
          "[seccomp][variant]") {
  for (Profile profile : kProfiles) {
    const std::string& filter = filter_of(profile, masking({kBeyondAllCalls, number_of("mount")}));
    for (int number : {512, 513, 999, 0x3fffffff}) {
      CHECK(run(filter, native_call(number)) == kTrapped);
    }
    for (int number : {470, 511, -1, 0x40000000, 0x40000200}) {
      CHECK(run(filter, native_call(number)) == kAsk);
    }
    CHECK(act(filter, "mount") == kTrapped);
    CHECK(act(filter, "read") == kGo);
  }
}

TEST_CASE("the report of a trap is itself notified, never trapped or answered",
          "[seccomp][variant]") {
  const FilterVariant masked = masking({kTrapReportCall, number_of("mount")});
  for (Profile profile : kProfiles) {
    for (uint64_t number : {0U, 165U, 0xffffffffU}) {
      auto report = native_call(kTrapReportCall, {number << 32 | kTrapReportOption, 1, 2, 3, 4, 5});
      CHECK(run(filter_of(profile, masked), report) == kAsk);
      CHECK(run(filter_of(profile), report) == kAsk);
    }
  }
}

TEST_CASE("where no cgroup counts, threads and processes that the profile allows are asked about",
          "[seccomp][variant]") {
  const FilterVariant counting = only(&FilterVariant::count_processes);
  for (Profile profile : kProfiles) {
    const std::string& filter = filter_of(profile, counting);
    for (uint64_t flags :
         {kThread, uint64_t{SIGCHLD}, uint64_t{CLONE_VM | CLONE_VFORK | SIGCHLD}}) {
      CHECK(act(filter, "clone", {flags}) == kAsk);
    }
    CHECK(act(filter, "clone3", {0x1000, 88}) == quiet(ENOSYS));
    CHECK(act(filter, "fork") == kAsk);
    CHECK(act(filter, "vfork") == kAsk);
    CHECK(act(filter, "execve", {0x1000}) == act(profile, "execve", {0x1000}));
  }
  using Names = std::vector<std::string>;
  CHECK(changed(Profile::kPure, counting).empty());
  CHECK(changed(Profile::kDefault, counting).empty());  // clone() without flags is a process
  CHECK(changed(Profile::kBuild, counting) == Names{"clone", "fork", "vfork"});
}

TEST_CASE("where no cgroup counts files in memory, each is asked about", "[seccomp][variant]") {
  const FilterVariant counting = only(&FilterVariant::count_memfds);
  using Names = std::vector<std::string>;
  CHECK(changed(Profile::kPure, counting).empty());
  CHECK(changed(Profile::kDefault, counting).empty());  // it has none
  FilterVariant both = counting;
  both.makes_code = true;
  CHECK(act(filter_of(Profile::kDefault, both), "memfd_create", {0x1000, 1}) == kAsk);
  for (Profile profile : {Profile::kSubprocess, Profile::kBuild}) {
    CHECK(act(profile, "memfd_create", {0x1000, 1}) == kGo);
    CHECK(act(profile, "memfd_create", {0x1000, 4 /* MFD_HUGETLB */}) == kAsk);
    CHECK(act(filter_of(profile, counting), "memfd_create", {0x1000, 1}) == kAsk);
    CHECK(changed(profile, counting) == Names{"memfd_create"});
  }
}

TEST_CASE("with the uid of other cells, pipes are asked about", "[seccomp][variant]") {
  const FilterVariant counting = only(&FilterVariant::count_pipes);
  using Names = std::vector<std::string>;
  for (Profile profile : {Profile::kPure, Profile::kDefault, Profile::kSubprocess}) {
    CHECK(act(profile, "pipe2", {0x1000, 0}) == kGo);
    CHECK(changed(profile, counting) == Names{"pipe", "pipe2"});
  }
}

TEST_CASE("with the uid of other cells, signals, sessions and pidfds are asked about",
          "[seccomp][variant]") {
  using Names = std::vector<std::string>;
  const Names asked = {"kill",
                       "setpgid",
                       "setsid",
                       "rt_sigqueueinfo",
                       "tkill",
                       "tgkill",
                       "rt_tgsigqueueinfo",
                       "pidfd_send_signal",
                       "pidfd_open"};
  for (Profile profile : kProfiles) {
    const FilterVariant shared = only(&FilterVariant::shared_uid);
    Names differ = changed(profile, shared);
    CHECK(std::set<std::string>(differ.begin(), differ.end()) ==
          std::set<std::string>(asked.begin(), asked.end()));
    for (const std::string& name : asked) {
      CHECK(act(profile, name.c_str(), {1, 9}) == kGo);
      CHECK(act(filter_of(profile, shared), name.c_str(), {1, 9}) == kAsk);
    }
  }
}

TEST_CASE("a job that must stay dumpable may say so, and is told that it is not",
          "[seccomp][variant]") {
  const FilterVariant open = only(&FilterVariant::dumpable);
  for (Profile profile : kProfiles) {
    CHECK(act(profile, "prctl", {PR_SET_DUMPABLE, 0}) == kGo);
    CHECK(act(profile, "prctl", {PR_SET_DUMPABLE, 1}) == kAsk);
    CHECK(act(filter_of(profile, open), "prctl", {PR_SET_DUMPABLE, 0}) == quiet(0));
    CHECK(act(filter_of(profile, open), "prctl", {PR_SET_DUMPABLE, 1}) == kGo);
    CHECK(act(filter_of(profile, open), "prctl", {PR_SET_DUMPABLE, 2}) == kAsk);
    CHECK(act(filter_of(profile, open), "prctl", {PR_SET_DUMPABLE, uint64_t{1} << 32}) == kAsk);
    CHECK(act(filter_of(profile, open), "prctl", {PR_GET_DUMPABLE}) == kGo);
  }
}

TEST_CASE("a counted call that an outer filter masks is trapped, not lost", "[seccomp][variant]") {
  FilterVariant both = masking({number_of("fork"), number_of("setsid")});
  both.count_processes = both.shared_uid = true;
  CHECK(act(filter_of(Profile::kBuild, both), "fork") == kTrapped);
  CHECK(act(filter_of(Profile::kBuild, both), "setsid") == kTrapped);
  CHECK(act(filter_of(Profile::kBuild, both), "vfork") == kAsk);
}
