#include "tools/cli/judge/package/package_tests.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/cli/judge/package/problem_2023.h"
#include "tools/cli/judge/package/yaml_fields.h"

namespace cli {
namespace {

using Kind = Folder::Kind;
using Flags = std::vector<std::string>;

constexpr size_t kMostTests = 10000;
constexpr unsigned kDeepestGroup = 8;

bool takes_off(std::string& name, std::string_view ending) {
  if (!name.ends_with(ending) || name.size() == ending.size()) return false;
  name.resize(name.size() - ending.size());
  return true;
}

// Tests in the order of their paths, or of a scoring problem in that of their groups.
class TestReader {
 public:
  TestReader(const Folder& folder, Package& into) : folder_(folder), into_(into) {}

  sys::Result<void> read() {
    const bool scoring = into_.settings.type == ProblemType::kScoring;
    const Said said = TRY(said_by("data", {}));
    into_.groups.push_back({"", said.grading, {}, said.scoring});
    if (is_scored()) return read_scored(said);
    const Said inner = for_groups_in(said);
    for (const char* path : {"data/sample", "data/secret"}) {
      if (TRY(folder_.kind_of(path)) != Kind::kFolder) continue;
      const size_t before = into_.tests.size();
      if (auto item = TRY(read_group(path, inner, 1))) into_.groups[0].items.push_back(*item);
      if (scoring) continue;
      sort_tests(before);
    }
    if (!scoring) into_.groups.clear();
    return {};
  }

 private:
  // The settings that the nearest testdata.yaml gives, or test_group.yaml.
  struct Said {
    Flags flags;  // of the validator
    Grading grading = {};
    Flags argv = {};  // of the submission
    std::optional<Scoring> scoring = {};
  };

  bool is_2023() const { return into_.settings.format == Format::k2023; }
  bool is_scored() const { return is_2023() && into_.settings.type == ProblemType::kScoring; }

  // From 2023-07 on groups are the samples, all of secret, and the folders of it that have a file
  // which says so.
  sys::Result<void> read_scored(const Said& outer) {
    for (const char* path : {"data/sample", "data/secret"}) {
      if (TRY(folder_.kind_of(path)) != Kind::kFolder) continue;
      if (auto item = TRY(read_scored_group(path, outer))) into_.groups[0].items.push_back(*item);
    }
    if (into_.groups.back().name.starts_with("secret")) {
      const size_t secret = into_.groups[0].items.back().index;
      into_.groups[0].grading.range = {0, into_.groups[secret].scoring->most};
      return {};
    }
    return sys::Error::because("data/secret: no test, so there is no score");
  }

  // Nothing: samples or secret without a test.
  sys::Result<std::optional<TestGroup::Item>> read_scored_group(const std::string& path,
                                                                const Said& outer) {
    const size_t index = into_.groups.size(), first = into_.tests.size();
    const bool has_groups = path == "data/secret" && TRY(has_groups_in(path));
    if (has_groups) {
      const Said said = TRY(said_by(path, outer));
      into_.groups.push_back({"secret", {}, {}, said.scoring});
      for (const Folder::Entry& entry : TRY(folder_.list(path))) {
        if (entry.kind != Kind::kFolder) continue;
        const auto item = TRY(read_scored_group(joined(path, entry.name), said));
        if (!item) return sys::Error::because(joined(path, entry.name) + ": a group has a test");
        into_.groups[index].items.push_back(*item);
      }
      return std::optional(TestGroup::Item{true, index});
    }
    if (!TRY(read_group(path, outer, 1))) return std::optional<TestGroup::Item>();
    sort_tests(first);
    into_.groups.resize(index + 1);  // folders in it are none
    std::vector<TestGroup::Item>& items = into_.groups[index].items;
    items.clear();
    for (size_t i = first; i < into_.tests.size(); ++i) items.push_back({false, i});
    return std::optional(TestGroup::Item{true, index});
  }

  // Then it has nothing else: neither tests nor other folders.
  sys::Result<bool> has_groups_in(const std::string& path) {
    std::string group, other;
    for (const Folder::Entry& entry : TRY(folder_.list(path))) {
      std::string stem = entry.name;
      const bool is_folder = entry.kind == Kind::kFolder;
      const bool is_group = is_folder && !TRY(group_file_of(joined(path, entry.name))).name.empty();
      if (is_group) group = entry.name;
      if (!is_group && (is_folder || takes_off(stem, ".in"))) other = entry.name;
    }
    if (!group.empty() && !other.empty())
      return sys::Error::because(fmt::format(
          "{}/{}: beside groups, of which {} is one by its test_group.yaml, there is nothing else",
          path, other, group));
    return !group.empty();
  }

  void sort_tests(size_t first) {
    std::sort(into_.tests.begin() + static_cast<ptrdiff_t>(first), into_.tests.end(),
              [](const PackageTest& a, const PackageTest& b) { return a.name < b.name; });
  }

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
    into_.groups.push_back({path.substr(path.find('/') + 1), said.grading, {}, said.scoring});
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

  struct GroupFile {
    std::string name;  // empty: there is none
    std::string text;
  };

  sys::Result<GroupFile> group_file_of(const std::string& path) {
    std::vector<const char*> names = {"testdata.yaml"};
    if (is_2023()) names.insert(names.begin(), "test_group.yaml");  // the other one is of drafts
    for (const char* name : names) {
      const std::string file = joined(path, name);
      if (auto text = TRY(folder_.read_if_any(file, kLongestYaml)))
        return GroupFile{file, *std::move(text)};
    }
    return GroupFile();
  }

  sys::Result<Said> said_by(const std::string& path, const Said& outer) {
    const auto [file, text] = TRY(group_file_of(path));
    if (is_scored()) return said_of_scored(path, file, text, outer);
    if (file.empty()) return Said{outer.flags, inherited(outer.grading, {}), outer.argv};
    if (is_2023()) return said_in(text, Scope::kGroup, file, outer);
    sys::Result<GroupSettings> settings = read_testdata_yaml(text, into_.settings.type);
    if (!settings) return std::move(settings).error().context(file);
    const std::optional<GraderFlags>& flags = settings->grading.flags;
    if (flags && flags->ignores_sample && path != "data")
      return sys::Error::because(file + ": grader_flags: ignore_sample is for data/testdata.yaml");
    add_once(settings->ignored, into_.ignored);
    return Said{settings->validator_flags.value_or(outer.flags),
                inherited(outer.grading, settings->grading)};
  }

  // A folder that is no group says nothing of its own.
  sys::Result<Said> said_of_scored(const std::string& path, const std::string& file,
                                   const std::string& text, const Said& outer) {
    const bool is_group = path == "data" || path == "data/sample" || path == "data/secret" ||
                          path.substr(0, path.rfind('/')) == "data/secret";
    if (file.empty() && path != "data/secret" && path != "data" && path != "data/sample")
      return Said{outer.flags, {}, outer.argv};
    if (!is_group) return sys::Error::because(file + ": there are no groups in groups or samples");
    GroupSettings settings;
    auto read = [&]() -> sys::Result<Said> {
      if (!file.empty())
        settings = TRY(read_test_settings(text, Scope::kGroup, into_.settings.type));
      const std::string name = path == "data" ? "" : path.substr(path.find('/') + 1);
      return Said{settings.validator_flags.value_or(outer.flags),
                  {},
                  settings.argv.value_or(outer.argv),
                  TRY(scoring_of(name, settings.scoring, into_.groups))};
    };
    sys::Result<Said> said = read();
    if (!said)
      return std::move(said).error().context(file.empty() ? joined(path, "test_group.yaml") : file);
    return said;
  }

  sys::Result<Said> said_in(const std::string& text, Scope scope, const std::string& file,
                            const Said& outer) const {
    sys::Result<GroupSettings> settings = read_test_settings(text, scope, into_.settings.type);
    if (!settings) return std::move(settings).error().context(file);
    return Said{settings->validator_flags.value_or(outer.flags), outer.grading,
                settings->argv.value_or(outer.argv)};
  }

  // TEST.yaml; or TEST.args, which drafts had: words without quoting.
  sys::Result<Said> said_of_test(const std::string& base, const Said& outer) {
    Said said = outer;
    if (const auto args = TRY(folder_.read_if_any(base + ".args", kLongestYaml))) {
      if (args->find_first_of("\"'\\") != args->npos)
        return sys::Error::because(base + ".args: quoting is not supported; use args in a .yaml");
      said.argv = words_of(*args);
    }
    const auto text = TRY(folder_.read_if_any(base + ".yaml", kLongestYaml));
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

}  // namespace

sys::Result<void> read_tests(const Folder& folder, Package& package) {
  if (TRY(folder.kind_of("data")) != Kind::kFolder)
    return sys::Error::because("data/: there is no such folder");
  TRY(TestReader(folder, package).read());
  if (package.tests.empty())
    return sys::Error::because("data/: no test; expected *.in with *.ans in sample or secret");
  return {};
}

void add_once(const std::vector<std::string>& words, std::vector<std::string>& into) {
  for (const std::string& word : words) {
    if (std::find(into.begin(), into.end(), word) == into.end()) into.push_back(word);
  }
}

}  // namespace cli
