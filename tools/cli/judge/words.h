#pragma once
// A contest's words for the result of a submission. Pure.

#include <string>
#include <string_view>

#include "runtime/job/outcome.h"

namespace cli {

// kPAC: accepted, but not with the best score that there is (scoring problems).
enum class Word : uint8_t { kAC, kPAC, kWA, kTLE, kRTE, kCE, kMLE, kOLE, kJE };

std::string_view name_of(Word word);  // "AC"

// JE: nothing was said about the program (SandboxError, BadJob, Cancelled, a validator that fails).
Word word_of(const runtime::Verdict& verdict);

}  // namespace cli
