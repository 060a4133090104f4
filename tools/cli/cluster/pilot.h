#pragma once
// `zygo pilot`: what makes the two processes of a service a pilot. The one with the engine finds
// the slot and dials; the one without rights joins the routers.

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cluster/engines/slot.h"
#include "cluster/link/join_url.h"
#include "cluster/link/tls.h"
#include "runtime/builds/template_spec.h"
#include "runtime/remote/engine_client.h"
#include "service/apis/api.h"
#include "tools/cli/command_line/command_line.h"
#include "tools/cli/refusal.h"

namespace cli {

struct PilotPlan {
  std::vector<cluster::JoinUrl> routers;
  std::string token;                               // empty: none
  std::shared_ptr<const cluster::TlsContext> tls;  // none: no router is spoken to by TLS
};
// Reads what the options name. A process makes it before it confines itself.
std::variant<PilotPlan, Refusal> plan_pilot(const PilotOptions& options);

// Slots have fewer cores than their hosts, and less memory: the workers that a pilot offers in one.
// `usual`: as many as it has on the whole host. Pure.
unsigned workers_in(const cluster::Slot& slot, unsigned host_cpus, unsigned asked);

// What is not said on the command line, from the slot; the process without rights, which is started
// by the same command line, finds it in its environment.
PilotOptions settle(PilotOptions options, const cluster::Slot& slot);

// Gets the environment that the options name from the first router that answers, and makes it the
// interpreter, of both processes. Blocks until `stop` is readable, and says how far it is. None:
// nothing is wrong.
std::optional<Refusal> obtain_environment(CommandLine& line, const PilotPlan& plan, int stop);

// Makes the part of the service that joins the routers. `engine` dials.
service::ApiMaker membership_of(const PilotOptions& options, PilotPlan plan,
                                const std::vector<runtime::TemplateSpec>& templates,
                                runtime::EngineClient& engine);

}  // namespace cli
