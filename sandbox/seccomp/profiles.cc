#include "sandbox/seccomp/profiles.h"

#include <algorithm>
#include <array>

#include "sandbox/seccomp/profile_parser.h"

namespace sandbox {

// The text of profiles/NAME.policy; nothing if there is no such file. Written by the build.
std::optional<std::string_view> embedded_profile(std::string_view name);

std::string_view profile_text(Profile profile) {
  return embedded_profile(name_of(profile)).value_or("");
}

const sys::Result<RuleGroups>& rules_of(Profile profile) {
  static const auto parsed = [] {
    auto parse = [](Profile p) { return parse_profile(name_of(p), embedded_profile); };
    return std::array{parse(Profile::kPure), parse(Profile::kDefault), parse(Profile::kSubprocess),
                      parse(Profile::kBuild)};
  }();
  return parsed[static_cast<size_t>(profile)];
}

const sys::Result<RuleGroups>& supervisor_rules() {
  static const auto parsed = parse_profile("supervisor", embedded_profile);
  return parsed;
}

const sys::Result<RuleGroups>& front_rules() {
  static const auto parsed = parse_profile("front", embedded_profile);
  return parsed;
}

bool applies(const RuleGroup& group, const FilterVariant& variant) {
  return std::ranges::all_of(group.circumstances, [&](const Circumstance& each) {
    return variant.*each.flag == each.expected;
  });
}

FilterVariant variant_of(Profile profile, FilterVariant variant) {
  variant.makes_code |= profile == Profile::kSubprocess || profile == Profile::kBuild;
  return variant;
}

Settled settle(const RuleGroups& groups, const FilterVariant& variant, int number,
               std::span<const uint64_t, 6> args) {
  auto matches = [&](const Rule& rule) {
    return number >= 0 && rule.number == number &&
           std::ranges::all_of(rule.when, [&](const Condition& c) {
             return ((args[c.arg] & c.mask) == c.value) != c.differs;
           });
  };
  for (const RuleGroup& group : groups) {
    if (group.treatment == Treatment::kNotify || !applies(group, variant)) continue;
    if (std::ranges::any_of(group.rules, matches)) return {group.treatment, group.error};
  }
  return {};
}

}  // namespace sandbox
