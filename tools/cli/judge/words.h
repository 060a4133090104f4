#pragma once
// The words of a contest for how a submission ended, and which of them an example submission's
// folder promises. Pure.

#include <string>
#include <string_view>

#include "runtime/outcome.h"

namespace cli {

enum class Word : uint8_t { kAC, kWA, kTLE, kRTE, kCE, kMLE, kOLE, kJE };

std::string_view name_of(Word word);  // "AC"

// JE: nothing was said about the program (SandboxError, BadJob, Cancelled, a validator that fails).
Word word_of(const runtime::Verdict& verdict);

// "AC" of "accepted", "RTE" of "run_time_error"; "any" of a folder that promises nothing.
std::string_view expected_word(std::string_view folder);

// Whether a submission of that folder may end so. run_time_error covers MLE too: the format has no
// folder for it. JE is never as expected.
bool as_expected(std::string_view folder, Word got);

}  // namespace cli
