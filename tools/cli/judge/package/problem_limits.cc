#include "tools/cli/judge/package/problem_limits.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "tools/cli/judge/package/yaml_fields.h"

namespace cli {
namespace {

struct LimitField {
  std::string_view name;
  double least, most;
  double ProblemLimits::*into;  // null: understood, and makes no difference
};

constexpr LimitField kLimits[] = {
    {"memory", 1, 65536, &ProblemLimits::memory_mib},
    {"output", 1, 1024, &ProblemLimits::output_mib},
    {"validation_time", 1, 3600, &ProblemLimits::validation_time_s},
    {"validation_memory", 1, 65536, &ProblemLimits::validation_memory_mib},
    {"validation_output", 1, 1024, &ProblemLimits::validation_output_mib},
    {"code", 1, 1048576, nullptr},
    {"compilation_time", 1, 86400, nullptr},
    {"compilation_memory", 1, 65536, nullptr},
};

}  // namespace

sys::Result<bool> read_common_limit(const std::string& name, const YamlValue& value,
                                    ProblemSettings& into) {
  const std::string field = "limits." + name;
  if (name == "time_limit") {
    into.limits.time_limit_s = TRY(number_in(field, value, 0.001, 3600));
    return true;
  }
  const LimitField* limit = std::find_if(std::begin(kLimits), std::end(kLimits),
                                         [&name](const auto& each) { return each.name == name; });
  if (limit == std::end(kLimits)) return false;
  const double number = TRY(number_in(field, value, limit->least, limit->most));
  if (limit->into == nullptr) {
    into.ignored.push_back(field);
  } else {
    into.limits.*limit->into = number;
  }
  return true;
}

}  // namespace cli
