#include "tools/cli/judge/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/cli/judge/package/yaml_fields.h"

namespace cli {
namespace {

// A validator writes little; this is for its copies of input, output and answer.
constexpr sys::Bytes kValidatorDisk = sys::mebibytes(1024);
constexpr size_t kMostFilesOfTest = 200;  // of its .files/

sys::Milliseconds milliseconds_of(double seconds) {
  return sys::Milliseconds(std::llround(seconds * 1000));
}

sys::Bytes mebibytes_of(double mebibytes) {
  return sys::Bytes{static_cast<uint64_t>(mebibytes * 1048576)};
}

}  // namespace

sys::Result<runtime::TokenRules> parse_validator_flags(const std::vector<std::string>& flags) {
  runtime::TokenRules rules;
  for (size_t i = 0; i < flags.size(); ++i) {
    const std::string& flag = flags[i];
    if (flag == "case_sensitive") {
      rules.case_counts = true;
      continue;
    }
    if (flag == "space_change_sensitive") {
      rules.space_counts = true;
      continue;
    }
    const bool both = flag == "float_tolerance";
    const bool absolute = both || flag == "float_absolute_tolerance";
    const bool relative = both || flag == "float_relative_tolerance";
    if (!absolute && !relative)
      return sys::Error::because(
          fmt::format("\"{}\" is not a flag of the default validator", flag));
    const auto number =
        i + 1 < flags.size() ? number_between(flags[i + 1], 0, 1e300) : std::nullopt;
    if (!number) return sys::Error::because(fmt::format("{} wants a number, such as 1e-6", flag));
    if (absolute) rules.absolute = number;
    if (relative) rules.relative = number;
    ++i;
  }
  return rules;
}

sys::Result<void> check_flags(const Package& package) {
  if (!package.validator.empty()) return {};
  if (auto common = parse_validator_flags(package.settings.validator_flags); !common)
    return std::move(common).error().context("problem.yaml: validator_flags");
  for (const PackageTest& test : package.tests) {
    if (auto rules = parse_validator_flags(test.flags); !rules)
      return std::move(rules).error().context(
          fmt::format("data/{}: output_validator_{} of it or its group", test.name,
                      package.settings.format == Format::k2023 ? "args" : "flags"));
  }
  return {};
}

sys::Result<std::optional<runtime::Checker>> read_checker(
    const Folder& folder, const Package& package, const std::vector<runtime::TemplateSpec>& known) {
  if (package.validator.empty()) return std::optional<runtime::Checker>();
  SourceProgram program = TRY(read_program(folder, package.validator, known));
  runtime::Checker checker;
  checker.template_name = std::move(program.template_name);
  checker.source = std::move(program.source);
  checker.files = std::move(program.files);
  checker.sources = std::move(program.sources);
  checker.protocol = runtime::Checker::Protocol::kIcpc;
  checker.scores = package.settings.validator_scores;
  const ProblemLimits& limits = package.settings.limits;
  checker.limits.cpu = milliseconds_of(limits.validation_time_s);
  checker.limits.wall = 2 * checker.limits.cpu + sys::Milliseconds(2000);
  checker.limits.memory = mebibytes_of(limits.validation_memory_mib);
  checker.limits.out = checker.limits.err = mebibytes_of(limits.validation_output_mib);
  checker.limits.outputs = std::max(checker.limits.outputs, checker.limits.out);
  checker.limits.disk = kValidatorDisk;
  return std::optional(std::move(checker));
}

sys::Result<std::vector<runtime::InputFile>> load_files(const Folder& folder,
                                                        const PackageTest& test) {
  std::vector<runtime::InputFile> files;
  if (test.files.empty()) return files;
  for (const std::string& path : TRY(folder.files_below(test.files, kMostFilesOfTest))) {
    files.push_back(
        {path.substr(test.files.size() + 1), TRY(folder.read(path, kLargestTestFile)), false});
  }
  return files;
}

sys::Result<runtime::TestCase> load_test(const Folder& folder, const Package& package,
                                         const PackageTest& test) {
  runtime::TestCase made;
  made.name = test.name;
  const bool is_sample = test.name.starts_with("sample/");
  made.scored = !is_sample || package.settings.format == Format::kLegacy;
  made.argv = test.argv;
  made.stdin_bytes = TRY(folder.read(test.input, kLargestTestFile));
  made.expect = TRY(folder.read(test.answer, kLargestTestFile));
  if (package.validator.empty()) {
    made.comparator = runtime::Comparator::kRules;
    made.rules = TRY(parse_validator_flags(test.flags));
  } else {
    if (!package.settings.interactive) made.comparator = runtime::Comparator::kChecker;
    made.checker_argv = test.flags;
  }
  return made;
}

}  // namespace cli
