#include "service/apis/piston/languages.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace service::piston {

namespace {

// A language that the packages of the original call by another name, or compile with other options:
// without optimisation, where Rust checks for overflows.
struct Original {
  std::string_view ours, name, template_name;
  std::vector<std::string_view> aliases;
};
const std::vector<Original>& originals() {
  static const std::vector<Original> all = {
      {"c", "c", "c11-unoptimised", {"gcc"}},
      {"cpp", "c++", "cpp17-unoptimised", {"cpp", "g++"}},
      {"rust", "rust", "rust-unoptimised", {"rs"}},
      {"r", "rscript", "r", {"r", "R"}},
      {"javascript", "javascript", "javascript", {"node-javascript", "node-js", "js", "node"}},
  };
  return all;
}

// Adds the language under the original's names. Where the original's options are those of another
// template, its names lead to that template, and our further names stay with ours.
void add_as_original(Language language, std::span<const InstalledRuntime> runtimes,
                     std::vector<Language>& languages) {
  const auto original = std::ranges::find(originals(), language.template_name, &Original::ours);
  if (language.package || original == originals().end())
    return languages.push_back(std::move(language));
  Language theirs = language;
  theirs.name = original->name;
  theirs.aliases.assign(original->aliases.begin(), original->aliases.end());
  std::erase_if(language.aliases, [&](const std::string& alias) {
    return alias == theirs.name || std::ranges::find(theirs.aliases, alias) != theirs.aliases.end();
  });
  const bool is_here = std::ranges::any_of(runtimes, [&](const InstalledRuntime& runtime) {
    return runtime.name == original->template_name && runtime.available;
  });
  if (is_here) theirs.template_name = original->template_name;
  if (theirs.template_name == language.template_name) {
    std::ranges::move(language.aliases, std::back_inserter(theirs.aliases));
    language.aliases.clear();
  }
  languages.push_back(std::move(theirs));
  if (language.aliases.empty()) return;
  language.name = language.aliases.front();
  language.aliases.erase(language.aliases.begin());
  languages.push_back(std::move(language));
}

Language language_of(const InstalledRuntime& runtime, const Version& version) {
  Language language;
  language.template_name = runtime.name;
  language.package = !runtime.language.empty();
  language.name = language.package ? runtime.language : runtime.name;
  language.version = version;
  language.aliases = runtime.aliases;
  for (const std::string& extension : runtime.extensions) {
    if (std::ranges::find(language.aliases, extension) == language.aliases.end())
      language.aliases.push_back(extension);
  }
  if (language.name == "python") language.aliases.emplace_back("python3");
  language.compiled = runtime.how == "compiled";
  return language;
}

}  // namespace

sys::Result<std::vector<Pin>> pins_in(std::string_view text) {
  std::vector<Pin> pins;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const size_t equals = part.find('=');
    const auto version =
        equals == part.npos || equals == 0 ? std::nullopt : version_in(part.substr(equals + 1));
    if (!version || text_of(*version) != part.substr(equals + 1))
      return sys::Error::because(
          fmt::format("\"{}\": expected LANGUAGE=VERSION, as in python=3.10.0", part));
    pins.push_back({std::string(part.substr(0, equals)), *version});
  }
  return pins;
}

const Language* find_language(const std::vector<Language>& languages, const std::string& name,
                              const std::string& range) {
  const Language *called = nullptr, *alias = nullptr;
  for (const Language& language : languages) {
    const bool is_called = language.name == name;
    if (!is_called && std::ranges::find(language.aliases, name) == language.aliases.end()) continue;
    if (language.pinned ? text_of(language.version) != range : !in_range(language.version, range))
      continue;
    const Language*& latest = is_called ? called : alias;
    if (!latest || latest->version < language.version) latest = &language;
  }
  return called ? called : alias;
}

std::vector<Language> languages_of(std::span<const InstalledRuntime> runtimes,
                                   const std::vector<Pin>& pins) {
  std::vector<Language> languages;
  for (const InstalledRuntime& runtime : runtimes) {
    if (!runtime.available || !runtime.variant_of.empty()) continue;
    const std::optional<Version> version = version_in(runtime.version);
    if (version) add_as_original(language_of(runtime, *version), runtimes, languages);
  }
  for (const Pin& pin : pins) {
    const Language* found = find_language(languages, pin.language, "*");
    if (!found || find_language(languages, pin.language, text_of(pin.version))) continue;
    Language language = *found;
    language.version = pin.version;
    language.pinned = true;
    languages.push_back(std::move(language));
  }
  return languages;
}

}  // namespace service::piston
