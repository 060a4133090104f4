// A profile, as text: any bytes, also as one that extends ours. What parses can be asked, and the
// parser's errors say where.

#include <string>

#include "sandbox/seccomp/profile_parser.h"
#include "sandbox/sys/result.h"
#include "tests/fuzz/input.h"

namespace {

using sandbox::Treatment;

std::optional<std::string_view> text_of(std::string_view name, std::string_view fuzzed) {
  if (name == "fuzzed") return fuzzed;
  auto known = sandbox::profile_named(name);
  return known ? std::optional(sandbox::profile_text(*known)) : std::nullopt;
}

void check_rules(const sandbox::RuleGroup& group) {
  VERIFY(!group.why.empty() && group.line > 0 && !group.rules.empty());
  VERIFY(group.error >= 0 && (group.treatment == Treatment::kQuiet || group.error == 0));
  for (const sandbox::Rule& rule : group.rules) {
    VERIFY(!rule.call.empty() && rule.when.size() <= 6);
    for (const sandbox::Condition& c : rule.when) {
      VERIFY(c.arg < 6 && c.mask != 0 && (c.value & ~c.mask) == 0);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);

  const auto parsed =
      sandbox::parse_profile("fuzzed", [&](std::string_view name) { return text_of(name, text); });

  if (!parsed) {
    const std::string& error = parsed.error().text();
    VERIFY(error.find(".policy:") != std::string::npos || error.starts_with("no profile is"));
    return 0;
  }
  for (const sandbox::RuleGroup& group : *parsed) check_rules(group);
  // The first rule that applies settles a call that it speaks of.
  for (const sandbox::RuleGroup& group : *parsed) {
    if (group.treatment == Treatment::kNotify || !sandbox::applies(group, {})) continue;
    const sandbox::Rule& rule = group.rules.front();
    if (rule.number < 0) continue;  // another architecture's
    uint64_t args[6] = {};
    for (const sandbox::Condition& c : rule.when) args[c.arg] = c.value ^ uint64_t { c.differs };
    const sandbox::Settled settled = sandbox::settle(*parsed, {}, rule.number, args);
    VERIFY(settled.treatment != Treatment::kNotify);
    break;
  }
  return 0;
}
