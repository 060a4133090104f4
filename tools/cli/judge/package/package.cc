#include "tools/cli/judge/package/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/cli/judge/expectations.h"
#include "tools/cli/judge/package/package_tests.h"
#include "tools/cli/judge/package/problem_2023.h"
#include "tools/cli/judge/package/yaml_fields.h"

namespace cli {
namespace {

using Kind = Folder::Kind;

constexpr size_t kMostExamples = 1000;

using Flags = std::vector<std::string>;

sys::Result<ProblemSettings> read_settings(const Folder& folder) {
  const auto text = TRY(folder.read_if_any("problem.yaml", kLongestYaml));
  if (!text) return sys::Error::because("problem.yaml: there is none; is this a problem package?");
  sys::Result<ProblemSettings> settings = read_problem_yaml(*text);
  if (!settings) return std::move(settings).error().context("problem.yaml");
  return std::move(settings).value();
}

sys::Milliseconds milliseconds_of(double seconds) {
  return sys::Milliseconds(std::llround(seconds * 1000));
}

// .timelimit is what judging systems leave in a package; it outranks the author's field.
sys::Result<std::optional<sys::Milliseconds>> read_time_limit(const Folder& folder,
                                                              const ProblemLimits& limits) {
  const auto text = TRY(folder.read_if_any(".timelimit", 64));
  if (text) {
    const Flags words = words_of(*text);
    const auto seconds = words.size() == 1 ? number_between(words[0], 0.001, 3600) : std::nullopt;
    if (!seconds)
      return sys::Error::because(".timelimit: expected a number of seconds from 0.001 to 3600");
    return std::optional(milliseconds_of(*seconds));
  }
  if (limits.time_limit_s) return std::optional(milliseconds_of(*limits.time_limit_s));
  return std::optional<sys::Milliseconds>();
}

sys::Result<std::vector<Folder::Entry>> list_if_any(const Folder& folder, const char* path) {
  if (TRY(folder.kind_of(path)) != Kind::kFolder) return std::vector<Folder::Entry>();
  return folder.list(path);
}

// The folder is the program, or there is one in it.
sys::Result<void> read_validator_2023(const Folder& folder, Package& package) {
  const auto entries = TRY(list_if_any(folder, "output_validator"));
  const auto plural = TRY(list_if_any(folder, "output_validators"));  // of early drafts
  package.settings.custom_validation = !entries.empty() || !plural.empty();
  if (!entries.empty()) {
    package.validator = "output_validator";
    if (entries.size() == 1) package.validator += "/" + entries.front().name;
    if (!plural.empty()) package.ignored.emplace_back("output_validators/");
  } else if (plural.empty() && (package.settings.interactive || package.settings.passes > 1)) {
    return sys::Error::because("output_validator/: none; interactive and multi-pass want one");
  }
  return {};
}

sys::Result<void> read_validator(const Folder& folder, Package& package) {
  if (package.settings.format == Format::k2023) {
    TRY(read_validator_2023(folder, package));
    if (!package.validator.empty() || !package.settings.custom_validation) return {};
  }
  const auto entries = TRY(list_if_any(folder, "output_validators"));
  if (!package.settings.custom_validation) {
    if (!entries.empty()) package.ignored.emplace_back("output_validators/ (validation: default)");
    return {};
  }
  if (entries.size() != 1)
    return sys::Error::because(fmt::format(
        "output_validators/: {} programs; validation: custom wants exactly one, a file or a folder",
        entries.size()));
  package.validator = "output_validators/" + entries.front().name;
  return {};
}

sys::Result<Expectations> read_expectations(const Folder& folder, Package& package) {
  const auto text = TRY(folder.read_if_any("submissions/submissions.yaml", kLongestYaml));
  sys::Result<Expectations> read = Expectations::read(text.value_or(""), package.settings.type);
  if (!read) return std::move(read).error().context("submissions/submissions.yaml");
  add_once(read->ignored(), package.ignored);
  return std::move(read).value();
}

sys::Result<void> read_examples(const Folder& folder, Package& package) {
  const bool is_2023 = package.settings.format == Format::k2023;
  const Expectations expectations =
      is_2023 ? TRY(read_expectations(folder, package)) : Expectations();
  for (const Folder::Entry& group : TRY(list_if_any(folder, "submissions"))) {
    const std::string path = "submissions/" + group.name;
    if (group.kind != Kind::kFolder) {
      if (!is_2023 || group.name != "submissions.yaml") package.ignored.push_back(path);
      continue;
    }
    for (const Folder::Entry& entry : TRY(folder.list(path))) {
      if (package.examples.size() == kMostExamples)
        return sys::Error::because(
            fmt::format("{}: more than {} submissions", path, kMostExamples));
      ExampleSubmission example{group.name, joined(path, entry.name)};
      example.measures = group.name == "accepted";
      if (is_2023) {
        const auto expected = TRY(expectations.of(joined(group.name, entry.name)));
        example.expected = expected.promise;
        example.score = expected.score;
        example.measures = example.measures && expected.measures;
      }
      package.examples.push_back(std::move(example));
    }
  }
  return {};
}

sys::Result<void> note_input_validators(const Folder& folder, Package& package) {
  for (const char* name :
       {"input_validators", "input_format_validators", "graders", "include", "static_validator"}) {
    if (TRY(folder.kind_of(name)) != Kind::kNothing)
      package.ignored.push_back(std::string(name) + "/");
  }
  return {};
}

}  // namespace

sys::Result<Package> read_package(const Folder& folder) {
  Package package;
  package.settings = TRY(read_settings(folder));
  package.ignored = package.settings.ignored;
  package.time_limit = TRY(read_time_limit(folder, package.settings.limits));
  TRY(read_tests(folder, package));
  TRY(read_validator(folder, package));
  TRY(read_examples(folder, package));
  TRY(note_input_validators(folder, package));
  return package;
}

}  // namespace cli
