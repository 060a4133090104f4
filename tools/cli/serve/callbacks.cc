#include "tools/cli/serve/callbacks.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "cluster/callbacks/callback_sender.h"
#include "service/callbacks.h"

namespace cli {

std::optional<Refusal> start_callbacks(const ServeOptions& from, service::ServiceOptions& into) {
  if (from.callbacks.empty()) return std::nullopt;
  const auto refuse = [](const sys::Error& why) {
    return Refusal{"--callbacks: " + why.text(), kExitSandbox};
  };
  auto processes = cluster::DialerProcesses::start(from.callbacks, service::Callbacks::kPatience);
  if (!processes) return refuse(processes.error());
  const auto options = std::make_shared<cluster::CallbackSender::Options>();
  options->places = from.callbacks;
  options->processes = std::move(processes).value();
  if (std::ranges::any_of(from.callbacks, &cluster::JoinUrl::tls)) {
    auto tls = cluster::TlsContext::open({});
    if (!tls) return refuse(tls.error());
    options->tls = std::move(tls).value();
  }
  // Called once.
  into.api_options.judge0.callbacks = [options](service::CallbacksHouse house) {
    return std::make_unique<cluster::CallbackSender>(std::move(house), std::move(*options));
  };
  return std::nullopt;
}

}  // namespace cli
