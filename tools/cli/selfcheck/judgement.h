#pragma once
// Decides from the end of an attempt whether the sandbox held it. Pure and total. An ending that
// proves nothing is a failure of the check: only an observed refusal counts as held.

#include <optional>
#include <string>
#include <string_view>

#include "runtime/job/result.h"
#include "tools/cli/selfcheck/attempt.h"

namespace cli {

enum class Standing { kHeld, kEscaped, kUnclear, kNotPromised };
std::string_view name_of(Standing standing);  // "held", "escaped", "unclear", "not promised"

// Everything that is known after an attempt.
struct Witness {
  runtime::JobResult result = {};
  std::optional<runtime::JobResult> before = {};  // of the attempt that ran first in the same cell
  std::optional<runtime::JobResult> neighbour = {};
  std::string neighbour_output = {};  // what an undisturbed neighbour prints
  std::string damage = {};            // what the host noticed; empty: nothing
  std::string secret = {};            // what no job may print
};

struct Finding {
  std::string name = {}, title = {};
  Standing standing = Standing::kUnclear;
  std::string label = {};    // of the job
  std::string seen = {};     // in a line
  std::string by = {};       // the layers that were in force and are there to hold it
  std::string tried = "[]";  // JSON array: every single try, as the program tells it
  bool operator==(const Finding&) const = default;
};

// "userns, pidns, ...", in the order of the layers.
std::string layer_names(sandbox::Layers layers);

Finding judge_attempt(const Attempt& attempt, const Witness& witness);

}  // namespace cli
