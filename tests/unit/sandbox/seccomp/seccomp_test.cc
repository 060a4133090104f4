// The compiled filter against the text of its profile, and what no profile may do: all evaluated in
// user space.
#include "sandbox/seccomp/seccomp.h"

#include <linux/audit.h>

#include <map>
#include <set>

#include "tests/unit/sandbox/seccomp/filter.h"

using namespace sandbox;
using namespace sandbox::test;

namespace {

// The values that the conditions on one call speak of, and their neighbours.
std::vector<uint64_t> telling_values(const RuleGroups& groups, int number) {
  std::set<uint64_t> values = {0, 1, ~uint64_t{0}, 0xffffffff, uint64_t{1} << 32};
  for (const RuleGroup& group : groups) {
    for (const Rule& rule : group.rules) {
      if (rule.number != number) continue;
      for (const Condition& c : rule.when) {
        values.insert({c.value, c.value + 1, c.mask, ~c.mask, c.value | uint64_t{7} << 40,
                       c.value ^ (c.mask & (~c.mask + 1))});
      }
    }
  }
  return {values.begin(), values.end()};
}

// Neighbouring arguments are enough: no rule looks at more than two.
std::vector<seccomp_data> telling_calls(const RuleGroups& groups, int number) {
  std::vector<seccomp_data> calls;
  std::vector<uint64_t> values = telling_values(groups, number);
  for (uint64_t a : values) {
    for (uint64_t b : values) {
      for (int at : {0, 1, 2, 3, 4}) {
        seccomp_data data = native_call(number);
        data.args[at] = a;
        data.args[at + 1] = b;
        calls.push_back(data);
      }
    }
  }
  return calls;
}

size_t disagreements(Profile profile, const FilterVariant& variant) {
  const RuleGroups& groups = groups_of(profile);
  const std::string& filter = filter_of(profile, variant);
  size_t wrong = 0;
  for (int number = 0; number < 480; ++number) {
    for (const seccomp_data& data : telling_calls(groups, number)) {
      if (run(filter, data) == by_the_text(profile, variant, data)) continue;
      if (wrong++ == 0) {
        UNSCOPED_INFO(name_of(profile)
                      << ": " << name_of_call(data.arch, data.nr) << " " << std::hex << data.args[0]
                      << " " << data.args[1] << " " << data.args[2] << " " << data.args[3]);
      }
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("the compiled filter does what the text says, whatever the arguments", "[seccomp]") {
  for (Profile profile : kProfiles) CHECK(disagreements(profile, {}) == 0);
}

TEST_CASE("so does the filter of every variant", "[seccomp][variant]") {
  for (Profile profile : kProfiles) {
    FilterVariant all;
    for (bool FilterVariant::*flag :
         {&FilterVariant::count_processes, &FilterVariant::count_memfds,
          &FilterVariant::count_pipes, &FilterVariant::shared_uid, &FilterVariant::dumpable,
          &FilterVariant::shared_files, &FilterVariant::makes_code, &FilterVariant::borrows_memory,
          &FilterVariant::shared_pids}) {
      CHECK(disagreements(profile, only(flag)) == 0);
      all.*flag = true;
    }
    CHECK(disagreements(profile, all) == 0);
  }
}

TEST_CASE("calls that are written down as notified are notified in every profile", "[seccomp]") {
  for (Profile profile : kProfiles) {
    for (const RuleGroup& group : groups_of(Profile::kPure)) {
      if (group.treatment != Treatment::kNotify) continue;
      for (const Rule& rule : group.rules) {
        if (rule.number < 0) continue;
        if (rule.call == "io_uring_setup") continue;  // quiet where libuv runs
        INFO(name_of(profile) << ": " << rule.call);
        CHECK(act(profile, rule.call.c_str()) == kAsk);
      }
    }
  }
}

TEST_CASE("each profile allows all that the one before it allows", "[seccomp]") {
  for (Profile profile : {Profile::kDefault, Profile::kSubprocess, Profile::kBuild}) {
    auto before = static_cast<Profile>(static_cast<int>(profile) - 1);
    for (int number = 0; number < 480; ++number) {
      for (const seccomp_data& data : telling_calls(groups_of(profile), number)) {
        if (run(filter_of(before), data) != kGo) continue;
        INFO(name_of(profile) << ": " << name_of_call(data.arch, data.nr));
        REQUIRE(run(filter_of(profile), data) == kGo);
      }
    }
  }
}

TEST_CASE("a call nobody has heard of is notified", "[seccomp]") {
  for (Profile profile : kProfiles) {
    for (int number : {470, 999, 0x3fffffff, -1}) {
      CHECK(run(filter_of(profile), native_call(number)) == kAsk);
    }
  }
}

TEST_CASE("calls of foreign ABIs are notified, also where the number is harmless in ours",
          "[seccomp]") {
  for (Profile profile : kProfiles) {
    for (int number = 0; number < 450; ++number) {
      seccomp_data data = native_call(number);
      data.arch = native_arch() == AUDIT_ARCH_X86_64 ? AUDIT_ARCH_I386 : AUDIT_ARCH_ARM;
      REQUIRE(run(filter_of(profile), data) == kAsk);
      if (native_arch() != AUDIT_ARCH_X86_64) continue;
      REQUIRE(run(filter_of(profile), native_call(number | 0x40000000)) == kAsk);  // x32
    }
  }
}

TEST_CASE("the observer's filter tells of every call but the one that hands it over", "[seccomp]") {
  auto compiled = compile_observer(5);
  REQUIRE(compiled.ok());
  for (int number = 0; number < 512; ++number) {
    if (number == call_number("sendmsg").value) continue;
    REQUIRE(run(*compiled, native_call(number, {5})) == kAsk);
  }
  CHECK(act(*compiled, "sendmsg", {5, 0x1000}) == kGo);
  CHECK(act(*compiled, "sendmsg", {4, 0x1000}) == kAsk);
  seccomp_data foreign = native_call(call_number("sendmsg").value, {5});
  foreign.arch = native_arch() == AUDIT_ARCH_X86_64 ? AUDIT_ARCH_I386 : AUDIT_ARCH_ARM;
  CHECK(run(*compiled, foreign) == kAsk);
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
