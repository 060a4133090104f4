#pragma once
// The expected result of an example submission, from its folder or from a line in it. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/result.h"
#include "tools/cli/judge/words.h"

namespace cli {

// One of these; none: anything but JE.
using Promise = std::vector<Word>;

// AC of "accepted", RTE of "run_time_error"; none of a folder that promises nothing.
// "partially_accepted" promises PAC, which only scoring problems know.
Promise promise_of(std::string_view folder);

// Reads a line "@EXPECTED_RESULTS@: RESULT, RESULT", as judging systems do: the last one counts.
// Nothing without such a line; an error names a result that nobody knows.
sys::Result<std::optional<Promise>> promise_in(std::string_view source);

std::string text_of(const Promise& promise);  // "AC"; "TLE or RTE"; "any"

// RTE covers MLE too: the format has no folder for it; and AC covers PAC, for an accepted
// submission need not have the best score. JE keeps no promise.
bool keeps(const Promise& promise, Word got);

}  // namespace cli
