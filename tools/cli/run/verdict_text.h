#pragma once
// The verdict as `zygo run` reports it: the exit code and the one line on stderr. Pure.

#include <string>

#include "runtime/job/result.h"
#include "tools/cli/text.h"

namespace cli {

// The contract's exit code of `zygo run`: the program's own for OK and NonZeroExit (1 when a
// program ended with 0 before its value was complete), 1 for an exception, 124, 125, 126, 137,
// 128+n.
int exit_code(const runtime::JobResult& result);

// With --json: 0 when there is a verdict about the program; 125 for BadJob and SandboxError, 130
// for Cancelled.
int exit_code_of_json(const runtime::JobResult& result);

bool is_trouble(runtime::Outcome outcome);  // BadJob, SandboxError: a batch with one ends with 1

Colour colour_of(runtime::Outcome outcome);

// "TimeoutException (cpu limit 1000 ms, used 1003 ms)", "ValueError: no such thing (line 3)". One
// line, safe for a terminal; long texts are clipped.
std::string verdict_line(const runtime::JobResult& result, const Style& style);

}  // namespace cli
