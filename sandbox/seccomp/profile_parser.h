#pragma once
// Reads the text of profiles (profiles/README.md describes it) and nothing else: no files, no
// system calls. Strict: unknown text is an error that names the file, the line and the expected
// text; so is a rule that another one makes void.

#include <functional>
#include <optional>
#include <string_view>

#include "sandbox/seccomp/profiles.h"
#include "sandbox/sys/result.h"

namespace sandbox {

// Finds the text of a profile by name.
using ProfileSource = std::function<std::optional<std::string_view>(std::string_view name)>;

// The groups of profile `name`, after those of the profiles that it extends.
sys::Result<RuleGroups> parse_profile(std::string_view name, const ProfileSource& source);

}  // namespace sandbox
