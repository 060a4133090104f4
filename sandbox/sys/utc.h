#pragma once
// Times as people and other programs read them: ISO 8601, in UTC ("2026-11-28T09:18:53.250Z").

#include <string>

#include "sandbox/sys/units.h"

namespace sys {

enum class Fraction { kNone, kMilliseconds };

// `since_1970`: of the system's clock, which runs on through leap seconds.
std::string utc_text(Milliseconds since_1970, Fraction fraction = Fraction::kMilliseconds);

Milliseconds time_since_1970();  // now

}  // namespace sys
