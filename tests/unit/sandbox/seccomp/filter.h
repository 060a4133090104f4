#pragma once
// Compiled filters, evaluated in user space: what tests of the profiles ask.

#include <linux/seccomp.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/seccomp/profiles.h"
#include "sandbox/seccomp/report.h"
#include "sandbox/seccomp/seccomp.h"
#include "sandbox/seccomp/syscall_names.h"

namespace sandbox::test {

inline constexpr Profile kProfiles[] = {Profile::kPure, Profile::kDefault, Profile::kSubprocess,
                                        Profile::kBuild};
inline constexpr Action kGo = {SECCOMP_RET_ALLOW, 0};
inline constexpr Action kAsk = {SECCOMP_RET_USER_NOTIF, 0};
inline constexpr Action kTrapped = {SECCOMP_RET_TRAP, kTrapMark};
inline constexpr Action quiet(int error) {
  return {SECCOMP_RET_ERRNO, static_cast<uint16_t>(error)};
}

inline FilterVariant only(bool FilterVariant::*flag) {
  FilterVariant variant;
  variant.*flag = true;
  return variant;
}
inline FilterVariant masking(std::vector<int> masked) {
  FilterVariant variant;
  variant.masked = std::move(masked);
  return variant;
}

// Compiled once per process and variant.
inline const std::string& filter_of(Profile profile, const FilterVariant& variant = {}) {
  struct Compiled {
    Profile profile;
    FilterVariant variant;
    std::string filter;
  };
  static std::vector<std::unique_ptr<Compiled>> all;
  for (const auto& one : all) {
    if (one->profile == profile && one->variant == variant) return one->filter;
  }
  sys::Result<std::string> compiled = compile_filter(profile, variant);
  if (!compiled) FAIL(compiled.error().text());
  all.push_back(std::make_unique<Compiled>(Compiled{profile, variant, *compiled}));
  return all.back()->filter;
}

inline Action run(const std::string& filter, const seccomp_data& data) {
  return evaluate(std::as_bytes(std::span(filter)), data);
}

inline seccomp_data native_call(int number, std::initializer_list<uint64_t> args = {}) {
  seccomp_data data{};
  data.nr = number;
  data.arch = native_arch();
  std::copy(args.begin(), args.end(), data.args);
  return data;
}

inline Action act(const std::string& filter, const char* name,
                  std::initializer_list<uint64_t> args = {}) {
  CallNumber number = call_number(name);
  INFO(name);
  REQUIRE(number.known);
  return run(filter, native_call(number.value, args));
}

inline Action act(Profile profile, const char* name, std::initializer_list<uint64_t> args = {}) {
  return act(filter_of(profile), name, args);
}

inline const RuleGroups& groups_of(Profile profile) {
  const sys::Result<RuleGroups>& groups = rules_of(profile);
  if (!groups) FAIL(groups.error().text());
  return *groups;
}

// The answer that the profile's text gives, without libseccomp and BPF.
inline Action by_the_text(Profile profile, const FilterVariant& variant, const seccomp_data& data) {
  std::span<const uint64_t, 6> args(reinterpret_cast<const uint64_t*>(data.args), 6);
  Settled settled = settle(groups_of(profile), variant_of(profile, variant), data.nr, args);
  switch (settled.treatment) {
    case Treatment::kAllow:
      return kGo;
    case Treatment::kQuiet:
      return quiet(settled.error);
    case Treatment::kNotify:
      return kAsk;
  }
  return kAsk;
}

}  // namespace sandbox::test
