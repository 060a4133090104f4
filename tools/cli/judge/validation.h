#pragma once
// Judges the output of a test: by the default validator of the format (a comparator of
// runtime/judging/compare), or by the package's own program (a Checker, protocol icpc).

#include <optional>
#include <string>
#include <vector>

#include "runtime/job/job.h"
#include "tools/cli/judge/package/package.h"
#include "tools/cli/judge/program.h"

namespace cli {

// case_sensitive, space_change_sensitive, float_absolute_tolerance E, float_relative_tolerance E,
// float_tolerance E (both). The error is a sentence about the flag.
sys::Result<runtime::TokenRules> parse_validator_flags(const std::vector<std::string>& flags);

// For the default validator: checks the flags of every test. The error names the test.
sys::Result<void> check_flags(const Package& package);

// The package's validator, with its limits; none when it has the default one.
sys::Result<std::optional<runtime::Checker>> read_checker(
    const Folder& folder, const Package& package, const std::vector<runtime::TemplateSpec>& known);

// The files beside the submission in this test.
sys::Result<std::vector<runtime::InputFile>> load_files(const Folder& folder,
                                                        const PackageTest& test);

// The test with its input, its answer, and how the output is compared.
sys::Result<runtime::TestCase> load_test(const Folder& folder, const Package& package,
                                         const PackageTest& test);

}  // namespace cli
