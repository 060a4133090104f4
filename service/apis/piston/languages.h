#pragma once
// The languages that Piston's API offers, made of the installed runtimes and the operator's pins:
// under the names of the original's packages, each with its version. Pure.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/result.h"
#include "service/apis/installed_runtimes.h"
#include "service/apis/piston/semver.h"

namespace service::piston {

struct Language {
  std::string name;
  Version version;
  std::vector<std::string> aliases;
  bool compiled = false;
  std::string template_name{};  // ours; empty: the same as the name
  bool package = false;         // called with the names of files
  bool pinned = false;          // the version is only what clients call it
};

// A version that clients ask for, and for which the operator offers the installed one.
struct Pin {
  std::string language;  // by name or alias
  Version version;
};
// "python=3.10.0,c++=10.2.0"; an error names the part that is not a pin.
sys::Result<std::vector<Pin>> pins_in(std::string_view text);

// The available runtimes with a known version, except variants of others; and each language that a
// pin names once more, under the pinned version.
std::vector<Language> languages_of(std::span<const InstalledRuntime> runtimes,
                                   const std::vector<Pin>& pins = {});

// The latest version of a language within `range`, which is a range as of npm; a pinned version has
// to be named exactly. A language of this name comes before one that has it for an alias: an
// operator's package may have the name that another language has for an alias. Null: none.
const Language* find_language(const std::vector<Language>& languages, const std::string& name,
                              const std::string& range);

}  // namespace service::piston
