#include "tools/cli/judge/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/cli/judge/yaml.h"

namespace cli {
namespace {

using Kind = Folder::Kind;

constexpr size_t kMostTests = 10000;
constexpr size_t kMostExamples = 1000;
constexpr unsigned kDeepestGroup = 8;

using Flags = std::vector<std::string>;

// The text of a file that may be absent.
sys::Result<std::optional<std::string>> text_if_any(const Folder& folder, const std::string& path,
                                                    size_t most) {
  const Kind kind = TRY(folder.kind_of(path));
  if (kind == Kind::kNothing) return std::optional<std::string>();
  if (kind != Kind::kFile) return sys::Error::because(path + ": not a file");
  return std::optional(TRY(folder.read(path, sys::Bytes{most})));
}

sys::Result<ProblemSettings> read_settings(const Folder& folder) {
  const auto text = TRY(text_if_any(folder, "problem.yaml", kLongestYaml));
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
  const auto text = TRY(text_if_any(folder, ".timelimit", 64));
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

bool takes_off(std::string& name, std::string_view ending) {
  if (!name.ends_with(ending) || name.size() == ending.size()) return false;
  name.resize(name.size() - ending.size());
  return true;
}

class TestReader {
 public:
  TestReader(const Folder& folder, const Flags& common, std::vector<PackageTest>& into)
      : folder_(folder), common_(common), into_(into) {}

  // `path` below data/; `inherited`: the flags of the nearest group above.
  sys::Result<void> read_group(const std::string& path, const Flags& inherited, unsigned depth) {
    if (depth > kDeepestGroup)
      return sys::Error::because(
          fmt::format("{}: more than {} groups in each other", path, kDeepestGroup));
    const Flags flags = TRY(flags_of(path, inherited));
    const std::vector<Folder::Entry> entries = TRY(folder_.list(path));
    for (const Folder::Entry& entry : entries) {
      const std::string below = joined(path, entry.name);
      std::string stem = entry.name;
      if (entry.kind == Kind::kFolder) {
        TRY(read_group(below, flags, depth + 1));
      } else if (takes_off(stem, ".in")) {
        TRY(add(path, stem, flags));
      } else if (takes_off(stem, ".ans")) {
        TRY(check_pair(joined(path, stem), ".ans", ".in"));
      }
    }
    return {};
  }

 private:
  sys::Result<Flags> flags_of(const std::string& path, const Flags& inherited) {
    const std::string file = joined(path, "testdata.yaml");
    const auto text = TRY(text_if_any(folder_, file, kLongestYaml));
    if (!text) return inherited;
    sys::Result<GroupSettings> settings = read_testdata_yaml(*text);
    if (!settings) return std::move(settings).error().context(file);
    return settings->validator_flags.value_or(inherited);
  }

  sys::Result<void> check_pair(const std::string& stem, std::string_view there,
                               std::string_view wanted) {
    const std::string other = stem + std::string(wanted);
    if (TRY(folder_.kind_of(other)) == Kind::kFile) return {};
    return sys::Error::because(fmt::format("{}{}: there is no {} beside it", stem, there, other));
  }

  sys::Result<void> add(const std::string& path, const std::string& stem, const Flags& flags) {
    if (into_.size() == kMostTests)
      return sys::Error::because(fmt::format("{}: more than {} tests", path, kMostTests));
    const std::string base = joined(path, stem);
    TRY(check_pair(base, ".in", ".ans"));
    PackageTest test{base.substr(base.find('/') + 1), base + ".in", base + ".ans", common_};
    for (const std::string& file : {test.input, test.answer}) {
      if (TRY(folder_.size_of(file)) > kLargestTestFile)
        return sys::Error::because(
            fmt::format("{}: longer than {} MiB", file, kLargestTestFile.count >> 20));
    }
    test.flags.insert(test.flags.end(), flags.begin(), flags.end());
    into_.push_back(std::move(test));
    return {};
  }

  const Folder& folder_;
  const Flags& common_;
  std::vector<PackageTest>& into_;
};

// data/testdata.yaml is about both groups.
sys::Result<Flags> common_group_flags(const Folder& folder) {
  const auto text = TRY(text_if_any(folder, "data/testdata.yaml", kLongestYaml));
  if (!text) return Flags();
  sys::Result<GroupSettings> settings = read_testdata_yaml(*text);
  if (!settings) return std::move(settings).error().context("data/testdata.yaml");
  return settings->validator_flags.value_or(Flags());
}

sys::Result<std::vector<PackageTest>> read_tests(const Folder& folder, const Flags& common) {
  if (TRY(folder.kind_of("data")) != Kind::kFolder)
    return sys::Error::because("data/: there is no such folder");
  const Flags outer = TRY(common_group_flags(folder));
  std::vector<PackageTest> tests;
  for (const char* group : {"data/sample", "data/secret"}) {
    if (TRY(folder.kind_of(group)) != Kind::kFolder) continue;
    const size_t before = tests.size();
    TRY(TestReader(folder, common, tests).read_group(group, outer, 1));
    std::sort(tests.begin() + static_cast<ptrdiff_t>(before), tests.end(),
              [](const PackageTest& a, const PackageTest& b) { return a.name < b.name; });
  }
  if (tests.empty())
    return sys::Error::because("data/: no test; expected *.in with *.ans in sample or secret");
  return tests;
}

sys::Result<std::vector<Folder::Entry>> list_if_any(const Folder& folder, const char* path) {
  if (TRY(folder.kind_of(path)) != Kind::kFolder) return std::vector<Folder::Entry>();
  return folder.list(path);
}

sys::Result<void> read_validator(const Folder& folder, Package& package) {
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

sys::Result<void> read_examples(const Folder& folder, Package& package) {
  for (const Folder::Entry& group : TRY(list_if_any(folder, "submissions"))) {
    const std::string path = "submissions/" + group.name;
    if (group.kind != Kind::kFolder) {
      package.ignored.push_back(path);
      continue;
    }
    for (const Folder::Entry& entry : TRY(folder.list(path))) {
      if (package.examples.size() == kMostExamples)
        return sys::Error::because(
            fmt::format("{}: more than {} submissions", path, kMostExamples));
      package.examples.push_back({group.name, joined(path, entry.name)});
    }
  }
  return {};
}

sys::Result<void> note_input_validators(const Folder& folder, Package& package) {
  for (const char* name : {"input_validators", "input_format_validators", "graders"}) {
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
  package.tests = TRY(read_tests(folder, package.settings.validator_flags));
  TRY(read_validator(folder, package));
  TRY(read_examples(folder, package));
  TRY(note_input_validators(folder, package));
  return package;
}

}  // namespace cli
