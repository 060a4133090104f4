#pragma once
// The system-call policy of each profile: profiles/*.policy, embedded by the build and parsed once
// per process. Compiled by seccomp.cc into the filter of a cell (pid 1 and its jobs live under the
// same one), asked by notify.cc what a call would have been allowed, walked by tests. Pure data.
//
// A call that no rule matches is *notified*: the daemon refuses it with EPERM and names it
// (notify.h), also if no file mentions it. A rule without conditions stands alone.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/policy.h"
#include "sandbox/seccomp/seccomp.h"
#include "sandbox/sys/result.h"

namespace sandbox {

enum class Treatment : uint8_t {
  kAllow,
  kQuiet,   // refused with `error` and no label: what honest libraries try and do without
  kNotify,  // the default, written down where the reason deserves a line
};

// args[arg] & mask == value, or the opposite. Where the kernel reads 32 bits, so does the mask:
// garbage in the upper half must neither hide a call nor condemn it.
struct Condition {
  uint8_t arg = 0;
  uint64_t mask = 0;
  uint64_t value = 0;
  bool differs = false;  // in all of the 64 bits: the mask has them
  bool operator==(const Condition&) const = default;
};

struct Rule {
  std::string call;
  int number = -1;  // negative when this architecture has no such call
  std::vector<Condition> when;
};

// Groups with circumstances apply only in variants of the filter where all of them hold.
struct Circumstance {
  bool FilterVariant::*flag = nullptr;
  bool expected = true;  // `when` or `unless`
  bool operator==(const Circumstance&) const = default;
};

// Rules of one treatment and one reason.
struct RuleGroup {
  std::string why;
  Treatment treatment = Treatment::kNotify;
  int error = 0;  // kQuiet only; 0 means "pretend it was done"
  std::vector<Circumstance> circumstances;
  std::string file;
  int line = 0;
  std::vector<Rule> rules;
};
using RuleGroups = std::vector<RuleGroup>;

// A profile's file as it was written, for documents and the command line.
std::string_view profile_text(Profile profile);

// All groups of a profile, those of the profiles it extends first. An error is a mistake in a file
// of ours: file, line and what was expected.
const sys::Result<RuleGroups>& rules_of(Profile profile);

// Calls that the supervisor forbids itself (profiles/supervisor.policy), without conditions.
const sys::Result<RuleGroups>& supervisor_rules();

// Calls that the front may make (profiles/front.policy); all else fails with EPERM.
const sys::Result<RuleGroups>& front_rules();

bool applies(const RuleGroup& group, const FilterVariant& variant);

// The variant with what the profile implies: where programs are made in scratch and run, code is.
FilterVariant variant_of(Profile profile, FilterVariant variant);

// The groups' rule for a native call: the policy without libseccomp and BPF.
struct Settled {
  Treatment treatment = Treatment::kNotify;
  int error = 0;
  bool operator==(const Settled&) const = default;
};
Settled settle(const RuleGroups& groups, const FilterVariant& variant, int number,
               std::span<const uint64_t, 6> args);

}  // namespace sandbox
