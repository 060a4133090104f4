#include "runtime/cell/observer.h"

#include <sys/syscall.h>

#include <algorithm>

#include "sandbox/seccomp/profiles.h"
#include "sandbox/seccomp/syscall_names.h"

namespace runtime {

using sandbox::Notice;
using sandbox::Profile;
using sandbox::Ruling;
using sandbox::Treatment;

namespace {

constexpr Profile kProfiles[] = {Profile::kPure, Profile::kDefault, Profile::kSubprocess,
                                 Profile::kBuild};

sandbox::Settled settled(Profile profile, const sandbox::FilterVariant& variant,
                         const Notice& notice) {
  const sys::Result<sandbox::RuleGroups>& groups = sandbox::rules_of(profile);
  if (!groups.ok()) return {};
  return sandbox::settle(*groups, sandbox::variant_of(profile, variant), notice.nr, notice.args);
}

// The last step of a job's confinement (shim/cell/run_job.cc): what came before was not the
// program.
bool begins_program(const Notice& notice) {
  return notice.nr == SYS_close_range && notice.args[0] == 3 &&
         static_cast<uint32_t>(notice.args[1]) == ~0u;
}

}  // namespace

std::optional<Ruling> Observer::settle(const Notice& notice) const {
  if (!sandbox::is_native(notice.arch, notice.nr)) return std::nullopt;
  const sandbox::Settled found = settled(profile_, variant_, notice);
  switch (found.treatment) {
    case Treatment::kAllow:
      return sandbox::go_on();
    case Treatment::kQuiet:
      return sandbox::fail_quietly(found.error);
    case Treatment::kNotify:
      break;
  }
  return std::nullopt;
}

std::optional<Profile> Observer::least_profile(const Notice& notice, const Ruling& ruling) const {
  if (!sandbox::is_native(notice.arch, notice.nr)) return std::nullopt;
  for (Profile profile : kProfiles) {
    if (settled(profile, {}, notice).treatment == Treatment::kAllow) return profile;
    // A path that was looked at and let through: only `pure` writes nowhere at all.
    if (ruling.proceed && profile == Profile::kDefault) return profile;
  }
  return std::nullopt;
}

void Observer::count(const Notice& notice, const Ruling& ruling) {
  if (begins_program(notice)) return calls_.clear();
  const int outcome = ruling.proceed ? 0 : ruling.refusal ? -1 : ruling.error;
  const std::string name = sandbox::name_of_call(notice.arch, notice.nr);
  ObservedCall& call = calls_[{name, outcome}];
  const std::optional<Profile> needs = least_profile(notice, ruling);
  if (call.count++ > 0) {
    call.needs = call.needs && needs ? std::optional(std::max(*call.needs, *needs)) : std::nullopt;
    return;
  }
  using Kind = ObservedCall::Treatment;
  call.name = name;
  call.treatment = ruling.proceed   ? Kind::kAllowed
                   : ruling.refusal ? Kind::kRefused
                                    : Kind::kQuietly;
  call.error = ruling.proceed ? 0 : ruling.error;
  call.argument = ruling.refusal ? ruling.refusal->argument : "";
  call.needs = needs;
}

std::vector<ObservedCall> Observer::take() {
  std::vector<ObservedCall> all;
  for (auto& [key, call] : calls_) all.push_back(std::move(call));
  calls_.clear();
  std::stable_sort(all.begin(), all.end(),
                   [](const ObservedCall& a, const ObservedCall& b) { return a.count > b.count; });
  return all;
}

}  // namespace runtime
