#pragma once
// The sockets that a service listens on, opened before it gives up its rights.

#include <variant>
#include <vector>

#include "service/http/listener.h"
#include "tools/cli/options.h"
#include "tools/cli/refusal.h"

namespace cli {

// Those of --listen and those that systemd gives; without either `usual`, null: none. An address
// that other hosts can reach needs tokens.
std::variant<std::vector<service::Listener>, Refusal> open_listeners(const ServeOptions& options,
                                                                     const char* usual);

}  // namespace cli
