#pragma once
// The output of `zygo run --observe`: a table of system calls and a sufficient profile. Pure.

#include <string>

#include "runtime/job/result.h"
#include "tools/cli/text.h"

namespace cli {

std::string observed_table(const runtime::JobResult& result, const Style& style);

}  // namespace cli
