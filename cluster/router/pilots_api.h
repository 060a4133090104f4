#pragma once
// PilotsApi: the part of a router that pilots and operators speak to: pilots join by a WebSocket
// (GET /v1/pilots/join), operators look at them (GET /v1/pilots). Loop thread only.

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "cluster/router/fleet.h"
#include "cluster/router/lost_pilots.h"
#include "cluster/router/pilot_session.h"
#include "service/apis/api.h"

namespace cluster {

class PilotsApi : public service::Api {
 public:
  struct Options {
    std::string router;  // its name, for pilots and people
    sys::Milliseconds lease;
    size_t most_message = 0;                       // bytes of a pilot's
    sandbox::Level least = sandbox::Level::kFull;  // that a pilot must have
    sandbox::Layers layers;                        // that it must have in force
  };
  PilotsApi(const service::ApiContext& context, Fleet& fleet, KnownRuntimes& runtimes,
            Options options);
  ~PilotsApi() override;

  service::Routes routes() override;
  void describe_to(service::Described& into) const override;
  void append_metrics(std::string& into) const override;
  void begin_end() override;
  void close_rest() override;

 private:
  void join(const service::ExchangePtr& exchange);
  void list(const service::ExchangePtr& exchange) const;
  std::string objection_to(const Hello& hello) const;
  void lose(Fleet::Pilot pilot, LostPilots::Reason why, const std::string& message);
  PilotSession::House house();

  const service::ApiContext context_;
  Fleet& fleet_;
  KnownRuntimes& runtimes_;
  const Options options_;
  LostPilots lost_;
  std::set<std::shared_ptr<PilotSession>> sessions_;
  bool ending_ = false;
};

}  // namespace cluster
