#pragma once
// `zygo doctor`: what isolation this host gives, layer by layer, why, and how to get what is
// missing.

#include <string>
#include <vector>

#include "sandbox/probe.h"
#include "tools/cli/options.h"
#include "tools/cli/text.h"

namespace cli {

struct Checkup {
  std::vector<sandbox::LayerReport> layers;
  std::string kernel;          // uname -r
  std::string python;          // the path
  std::string python_version;  // empty: it did not answer
};

int doctor_command(const CommandLine& line);  // 0 when the floor is met, and what --require names

// The rest is for tests. The floor is what the weakest level needs: without it zygo refuses to
// start.
std::string checkup_table(const Checkup& checkup, const Style& style);
std::string checkup_json(const Checkup& checkup);
bool meets(const Checkup& checkup, const CommonOptions& common);

}  // namespace cli
