#pragma once
// `zygo selfcheck`: tries to break out of cells of the real engine, and fails if anything succeeds.

#include <string>
#include <vector>

#include "tools/cli/engine_setup.h"
#include "tools/cli/options.h"
#include "tools/cli/selfcheck/judgement.h"
#include "tools/cli/text.h"

namespace cli {

// 0: all held; 1: something escaped, or cannot be told; 125: zygo cannot start; 130: interrupted.
int selfcheck_command(const CommandLine& line, const Parts& parts);

// The rest is for tests.
struct SelfcheckReport {
  std::string level = {};
  std::string enforced = {};      // layers, in all jobs
  std::string not_in_force = {};  // layers that the host gives and the level uses, and jobs lacked
  std::vector<Finding> findings = {};
  double seconds = 0;

  size_t count(Standing standing) const;
  bool all_held() const;
};
std::string finding_line(const Finding& finding, const Style& style, size_t width);
std::string selfcheck_summary(const SelfcheckReport& report, const Style& style);
std::string selfcheck_json(const SelfcheckReport& report);

}  // namespace cli
