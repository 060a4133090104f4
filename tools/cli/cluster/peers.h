#pragma once
// The other routers of `zygo route` (--peer).

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "cluster/peers/peers_api.h"
#include "tools/cli/command_line/command_line.h"
#include "tools/cli/refusal.h"

namespace cli {

struct PeersPlan {
  std::vector<cluster::Peer> others;  // empty: there are none
  std::shared_ptr<const cluster::TlsContext> tls;
};
// `router`: this one's name, which may be among them: the same options do for all of them.
std::variant<PeersPlan, Refusal> plan_peers(const CommandLine& line, const std::string& router);

// Starts the processes that connect to them; before this one gives up its rights.
sys::Result<cluster::PeersApi::Options> start_peers(PeersPlan plan, const std::string& router);

}  // namespace cli
