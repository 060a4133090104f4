#pragma once
// The other routers of `zygo route` (--peer).

#include <optional>
#include <string>
#include <variant>

#include "cluster/peers/peers_api.h"
#include "tools/cli/command_line/command_line.h"
#include "tools/cli/refusal.h"

namespace cli {

// None: there are no others. `router`: this one's name, which may be among them: the same options
// do for all of them. Starts the processes that connect to them: before anything secret is read,
// and before this process gives up its rights.
std::variant<cluster::PeersApi::Options, Refusal> start_peers(const CommandLine& line,
                                                              const std::string& router);

// Reads the files of certificates. Empty: nothing is wrong.
std::optional<Refusal> open_peers_tls(const CommandLine& line, cluster::PeersApi::Options& peers);

}  // namespace cli
