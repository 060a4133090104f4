#pragma once
// What makes the callbacks of a service (--callbacks): processes that connect where it may not.

#include <optional>

#include "service/options.h"
#include "tools/cli/options.h"
#include "tools/cli/refusal.h"

namespace cli {

// Forks: the caller has one thread, its rights, and no secret in its memory yet. Nothing where no
// callbacks are allowed.
std::optional<Refusal> start_callbacks(const ServeOptions& from, service::ServiceOptions& into);

}  // namespace cli
