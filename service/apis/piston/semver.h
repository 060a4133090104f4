#pragma once
// Versions and ranges of them, as npm's semver has it (node-semver, README "Ranges"): "*", "3",
// "3.10.x", "^3.10", "~3.10.2", ">=3 <4", "3 || 2". Pre-releases are not known. Pure.

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace service {

using Version = std::array<unsigned, 3>;

// The first "1.2.3" or "1.2" in a text like "go version go1.19.8 linux/amd64".
std::optional<Version> version_in(std::string_view text);
std::string text_of(const Version& version);

// False, too, for what is no range.
bool in_range(const Version& version, std::string_view range);

}  // namespace service
