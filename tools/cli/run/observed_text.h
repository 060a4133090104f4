#pragma once
// What `zygo run --observe` shows: a table of system calls and the profile that would do. Pure.

#include <string>

#include "runtime/job/result.h"
#include "tools/cli/text.h"

namespace cli {

std::string observed_table(const runtime::JobResult& result, const Style& style);

}  // namespace cli
