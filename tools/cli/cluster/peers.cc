#include "tools/cli/cluster/peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cluster/peers/homes.h"
#include "tools/cli/cluster/tls_options.h"

namespace cli {

using cluster::Peer;
using cluster::PeersApi;

namespace {

constexpr sys::Milliseconds kDialPatience{2'000};
constexpr const char* kName = "expected 1 to 64 letters, digits, '.', '_' and '-'";

std::variant<Peer, Refusal> read_peer(const std::string& text) {
  const size_t at = text.find('=');
  if (at == text.npos) return Refusal{fmt::format("--peer: {}: expected NAME=URL", text)};
  Peer peer{.name = text.substr(0, at), .url = {}};
  if (!cluster::is_router_name(peer.name))
    return Refusal{fmt::format("--peer: {}: the name: {}", text, kName)};
  auto url = cluster::parse_join_url(text.substr(at + 1));
  if (!url) return Refusal{"--peer: " + url.error().text()};
  if (url->is_unix())  // where a token says nothing: its callers are told apart by their users
    return Refusal{fmt::format("--peer: {}: expected http:// or https://", peer.name)};
  peer.url = std::move(url).value();
  return peer;
}

// All but this router itself.
std::variant<std::vector<Peer>, Refusal> read_peers(const CommandLine& line,
                                                    const std::string& router) {
  std::vector<Peer> others;
  std::vector<std::string> names;
  for (const std::string& text : line.route.peers) {
    auto read = read_peer(text);
    if (auto* refusal = std::get_if<Refusal>(&read)) return *refusal;
    Peer& peer = std::get<Peer>(read);
    if (std::ranges::find(names, peer.name) != names.end())
      return Refusal{fmt::format("--peer: {} is there twice", peer.name)};
    names.push_back(peer.name);
    if (peer.name != router) others.push_back(std::move(peer));
  }
  if (names.empty()) return others;
  if (others.empty())
    return Refusal{fmt::format("--peer: {} is this router (--name): expected another one", router)};
  if (!cluster::is_router_name(router))
    return Refusal{fmt::format("--name: {}: beside --peer {}", router, kName)};
  if (line.serve.tokens.empty())
    return Refusal{
        "--peer: needs --tokens FILE, the same at all routers: by them callers are known"};
  return others;
}

}  // namespace

std::variant<PeersApi::Options, Refusal> start_peers(const CommandLine& line,
                                                     const std::string& router) {
  auto read = read_peers(line, router);
  if (auto* refusal = std::get_if<Refusal>(&read)) return *refusal;
  PeersApi::Options options;
  options.router = router;
  options.others = std::get<std::vector<Peer>>(std::move(read));
  if (options.others.empty()) return options;
  std::vector<cluster::JoinUrl> urls;
  for (const Peer& peer : options.others) urls.push_back(peer.url);
  auto processes = cluster::DialerProcesses::start(urls, kDialPatience);
  if (!processes) return Refusal{processes.error().text(), kExitSandbox};
  options.processes = std::move(processes).value();
  return options;
}

std::optional<Refusal> open_peers_tls(const CommandLine& line, PeersApi::Options& peers) {
  const bool is_wanted =
      std::ranges::any_of(peers.others, [](const Peer& other) { return other.url.tls; });
  auto tls =
      open_tls({.ca = line.route.ca_file, .cert = line.route.cert_file, .key = line.route.key_file},
               is_wanted, "--peer");
  if (!tls) return Refusal{tls.error().text()};
  peers.tls = std::move(tls).value();
  return std::nullopt;
}

}  // namespace cli
