#include "tools/cli/judge/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/cli/judge/expectations.h"
#include "tools/cli/judge/problem_2023.h"
#include "tools/cli/judge/yaml_fields.h"

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

// Each once, however many groups have it.
void note(const Flags& fields, std::vector<std::string>& ignored) {
  for (const std::string& field : fields) {
    if (std::find(ignored.begin(), ignored.end(), field) == ignored.end()) ignored.push_back(field);
  }
}

// Tests in the order of their paths, or of a scoring problem in that of their groups.
class TestReader {
 public:
  TestReader(const Folder& folder, Package& into) : folder_(folder), into_(into) {}

  sys::Result<void> read() {
    const bool scoring = into_.settings.type == ProblemType::kScoring;
    const Said said = TRY(said_by("data", {}));
    into_.groups.push_back({"", said.grading, {}});
    const Said inner = for_groups_in(said);
    for (const char* path : {"data/sample", "data/secret"}) {
      if (TRY(folder_.kind_of(path)) != Kind::kFolder) continue;
      const size_t before = into_.tests.size();
      if (auto item = TRY(read_group(path, inner, 1))) into_.groups[0].items.push_back(*item);
      if (scoring) continue;
      std::sort(into_.tests.begin() + static_cast<ptrdiff_t>(before), into_.tests.end(),
                [](const PackageTest& a, const PackageTest& b) { return a.name < b.name; });
    }
    if (!scoring) into_.groups.clear();
    return {};
  }

 private:
  // What the nearest testdata.yaml says, or test_group.yaml.
  struct Said {
    Flags flags;  // of the validator
    Grading grading = {};
    Flags argv = {};  // of the submission
  };

  bool is_2023() const { return into_.settings.format == Format::k2023; }

  // The flag is about the groups of data/ alone.
  static Said for_groups_in(Said said) {
    said.grading.flags.ignores_sample = false;
    return said;
  }

  // Nothing: there is no test in it.
  sys::Result<std::optional<TestGroup::Item>> read_group(const std::string& path, const Said& outer,
                                                         unsigned depth) {
    if (depth > kDeepestGroup)
      return sys::Error::because(
          fmt::format("{}: more than {} groups in each other", path, kDeepestGroup));
    const Said said = TRY(said_by(path, outer));
    const size_t index = into_.groups.size();
    into_.groups.push_back({path.substr(path.find('/') + 1), said.grading, {}});
    std::vector<TestGroup::Item> items;
    for (const Folder::Entry& entry : TRY(folder_.list(path))) {
      const std::string below = joined(path, entry.name);
      std::string stem = entry.name;
      if (is_2023() && TRY(belongs_to_test(path, entry))) continue;
      if (entry.kind == Kind::kFolder) {
        if (auto item = TRY(read_group(below, said, depth + 1))) items.push_back(*item);
      } else if (takes_off(stem, ".in")) {
        items.push_back({false, into_.tests.size()});
        TRY(add(path, stem, said));
      } else if (takes_off(stem, ".ans")) {
        TRY(check_pair(joined(path, stem), ".ans", ".in"));
      }
    }
    if (items.empty()) {
      into_.groups.pop_back();
      return std::optional<TestGroup::Item>();
    }
    into_.groups[index].items = std::move(items);
    return std::optional(TestGroup::Item{true, index});
  }

  // TEST.yaml, TEST.args and TEST.files/ of a test; nothing else may have such a name.
  sys::Result<bool> belongs_to_test(const std::string& path, const Folder::Entry& entry) {
    std::string stem = entry.name;
    const bool is_folder = entry.kind == Kind::kFolder;
    const char* ending = is_folder ? ".files" : stem.ends_with(".yaml") ? ".yaml" : ".args";
    if (!takes_off(stem, ending)) return false;
    const bool of_group = stem == "test_group" || stem == "testdata";
    if (of_group && !is_folder && entry.name.ends_with(".yaml")) return true;
    TRY(check_pair(joined(path, stem), ending, ".in"));
    return true;
  }

  sys::Result<Said> said_by(const std::string& path, const Said& outer) {
    std::string file = joined(path, is_2023() ? "test_group.yaml" : "testdata.yaml");
    auto text = TRY(text_if_any(folder_, file, kLongestYaml));
    if (!text && is_2023()) {
      file = joined(path, "testdata.yaml");  // its name in early drafts
      text = TRY(text_if_any(folder_, file, kLongestYaml));
    }
    if (!text) return Said{outer.flags, inherited(outer.grading, {}), outer.argv};
    if (is_2023()) return said_in(*text, Scope::kGroup, file, outer);
    sys::Result<GroupSettings> settings = read_testdata_yaml(*text, into_.settings.type);
    if (!settings) return std::move(settings).error().context(file);
    const std::optional<GraderFlags>& flags = settings->grading.flags;
    if (flags && flags->ignores_sample && path != "data")
      return sys::Error::because(file + ": grader_flags: ignore_sample is for data/testdata.yaml");
    note(settings->ignored, into_.ignored);
    return Said{settings->validator_flags.value_or(outer.flags),
                inherited(outer.grading, settings->grading)};
  }

  static sys::Result<Said> said_in(const std::string& text, Scope scope, const std::string& file,
                                   const Said& outer) {
    sys::Result<GroupSettings> settings = read_test_settings(text, scope);
    if (!settings) return std::move(settings).error().context(file);
    return Said{settings->validator_flags.value_or(outer.flags), outer.grading,
                settings->argv.value_or(outer.argv)};
  }

  // TEST.yaml; or TEST.args, which drafts had: words without quoting.
  sys::Result<Said> said_of_test(const std::string& base, const Said& outer) {
    Said said = outer;
    if (const auto args = TRY(text_if_any(folder_, base + ".args", kLongestYaml))) {
      if (args->find_first_of("\"'\\") != args->npos)
        return sys::Error::because(base + ".args: quoting is not supported; use args in a .yaml");
      said.argv = words_of(*args);
    }
    const auto text = TRY(text_if_any(folder_, base + ".yaml", kLongestYaml));
    return text ? said_in(*text, Scope::kTest, base + ".yaml", said) : said;
  }

  sys::Result<void> check_pair(const std::string& stem, std::string_view there,
                               std::string_view wanted) {
    const std::string other = stem + std::string(wanted);
    if (TRY(folder_.kind_of(other)) == Kind::kFile) return {};
    return sys::Error::because(fmt::format("{}{}: there is no {} beside it", stem, there, other));
  }

  sys::Result<void> add(const std::string& path, const std::string& stem, const Said& outer) {
    if (into_.tests.size() == kMostTests)
      return sys::Error::because(fmt::format("{}: more than {} tests", path, kMostTests));
    const std::string base = joined(path, stem);
    TRY(check_pair(base, ".in", ".ans"));
    PackageTest test{base.substr(base.find('/') + 1), base + ".in", base + ".ans",
                     into_.settings.validator_flags};
    for (const std::string& file : {test.input, test.answer}) {
      if (TRY(folder_.size_of(file)) > kLargestTestFile)
        return sys::Error::because(
            fmt::format("{}: longer than {} MiB", file, kLargestTestFile.count >> 20));
    }
    const Said said = is_2023() ? TRY(said_of_test(base, outer)) : outer;
    test.flags.insert(test.flags.end(), said.flags.begin(), said.flags.end());
    test.argv = said.argv;
    if (is_2023() && TRY(folder_.kind_of(base + ".files")) == Kind::kFolder)
      test.files = base + ".files";
    into_.tests.push_back(std::move(test));
    return {};
  }

  const Folder& folder_;
  Package& into_;
};

sys::Result<void> read_tests(const Folder& folder, Package& package) {
  if (TRY(folder.kind_of("data")) != Kind::kFolder)
    return sys::Error::because("data/: there is no such folder");
  TRY(TestReader(folder, package).read());
  if (package.tests.empty())
    return sys::Error::because("data/: no test; expected *.in with *.ans in sample or secret");
  return {};
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
  const auto text = TRY(text_if_any(folder, "submissions/submissions.yaml", kLongestYaml));
  sys::Result<Expectations> read = Expectations::read(text.value_or(""));
  if (!read) return std::move(read).error().context("submissions/submissions.yaml");
  note(read->ignored(), package.ignored);
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
