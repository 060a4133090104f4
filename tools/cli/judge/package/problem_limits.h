#pragma once
// The fields below `limits` of problem.yaml that all versions of the format share. Pure.

#include <string>

#include "sandbox/sys/result.h"
#include "tools/cli/judge/package/problem_yaml.h"
#include "tools/cli/judge/package/yaml.h"

namespace cli {

// `name` is without "limits.". False: it is no limit that all versions have.
sys::Result<bool> read_common_limit(const std::string& name, const YamlValue& value,
                                    ProblemSettings& into);

}  // namespace cli
