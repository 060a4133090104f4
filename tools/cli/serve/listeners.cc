#include "tools/cli/serve/listeners.h"

#include <fmt/format.h>

#include <utility>

#include "tools/cli/serve/front.h"

namespace cli {

std::variant<std::vector<service::Listener>, Refusal> open_listeners(const ServeOptions& options,
                                                                     const char* usual) {
  auto inherited = service::Listener::inherited();
  if (!inherited) return Refusal{inherited.error().text(), kExitSandbox};
  std::vector<service::Listener> listeners = std::move(inherited).value();
  std::vector<std::string> wanted = options.listen;
  if (wanted.empty() && listeners.empty() && usual) wanted.emplace_back(usual);
  for (const std::string& text : wanted) {
    auto address = service::parse_listen_address(text);
    if (!address) return Refusal{"--listen: " + address.error().text()};
    auto listener = service::Listener::open(*address, options.socket_mode);
    if (!listener) return Refusal{"--listen: " + listener.error().text(), kExitSandbox};
    listeners.push_back(std::move(listener).value());
  }
  if (listeners.size() > kMostListeners)
    return Refusal{fmt::format("--listen: at most {} addresses", kMostListeners)};
  for (const service::Listener& listener : listeners) {
    if (listener.is_local() || !options.tokens.empty() || options.allow_anyone) continue;
    return Refusal{fmt::format(
        "{} can be reached from other hosts, and whoever reaches it could run programs here; give "
        "--tokens FILE (ZYGO_TOKENS), or say --allow-anyone (ZYGO_ALLOW_ANYONE=yes)",
        listener.name())};
  }
  return listeners;
}

}  // namespace cli
