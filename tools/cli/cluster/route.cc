#include "tools/cli/cluster/route.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cluster/environments/environments_api.h"
#include "cluster/router/fleet.h"
#include "cluster/router/known_runtimes.h"
#include "cluster/router/pilots_api.h"
#include "images/sha256.h"
#include "images/store.h"
#include "images/utf8_locale.h"
#include "runtime/builds/blobs.h"
#include "sandbox/front.h"
#include "sandbox/sys/file.h"
#include "sandbox/sys/freed_memory.h"
#include "sandbox/sys/random.h"
#include "service/observe/systemd.h"
#include "service/service.h"
#include "tools/cli/cluster/config_reader.h"
#include "tools/cli/cluster/peers.h"
#include "tools/cli/serve/callbacks.h"
#include "tools/cli/serve/init_process.h"
#include "tools/cli/serve/listeners.h"
#include "tools/cli/serve/places.h"
#include "tools/cli/serve/plan.h"
#include "tools/cli/serve/reload.h"
#include "tools/cli/signals.h"
#include "tools/cli/template_list.h"
#include "tools/cli/text.h"

namespace cli {
namespace {

constexpr int kLeasesOfSilence = 3;  // of another router, which may have to end a job first
constexpr size_t kMostOfAResult = size_t{1} << 30;  // bytes of a message of a pilot

std::string name_of_router(const CommandLine& line) {
  if (!line.route.name.empty()) return line.route.name;
  char host[256] = "router";
  (void)::gethostname(host, sizeof host - 1);
  return host;
}

service::Facts facts_of(const CommandLine& line, const std::vector<runtime::TemplateSpec>& known,
                        const cluster::Fleet& fleet,
                        const std::shared_ptr<cluster::KnownRuntimes>& runtimes) {
  service::Facts facts;
  facts.knows_template = [known, &fleet](const std::string& name) {
    return fleet.has_template(name) || !check_template(name, known).has_value();
  };
  facts.runtimes = [runtimes] { return std::pair(runtimes->json(), false); };
  std::vector<runtime::TemplateSpec> interpreters = known;
  std::erase_if(interpreters, [](const auto& spec) { return spec.runtime != nullptr; });
  facts.templates = template_json(interpreters, line.common.python) + "\n";
  facts.lack = [&fleet] { return fleet.workers() > 0 ? "" : "no pilot has joined"; };
  return facts;
}

cluster::PilotsApi::Options pilots_of(const CommandLine& line) {
  cluster::PilotsApi::Options options;
  options.router = name_of_router(line);
  options.lease = line.route.lease;
  options.most_message = kMostOfAResult;
  options.least = line.common.required_level.value_or(sandbox::Level::kFull);
  options.layers = line.common.required_layers;
  return options;
}

void say_ready(const CommandLine& line, const std::vector<std::string>& names) {
  if (line.common.json) {
    const nlohmann::ordered_json ready = {
        {"listening", names}, {"router", name_of_router(line)}, {"pid", ::getpid()}};
    static_cast<void>(sys::write_all(STDOUT_FILENO, ready.dump() + "\n").ok());
  } else if (!line.common.quiet) {
    write_error_line(fmt::format("zygo route: ready on {}", fmt::join(names, ", ")));
  }
}

Refusal refusal_of(const sys::Error& error) { return {error.text(), kExitSandbox}; }

// Empty: there are none.
std::variant<std::vector<cluster::Offered>, Refusal> offer_environments(const CommandLine& line) {
  std::vector<cluster::Offered> all;
  for (const std::string& text : line.route.environments) {
    auto offered = cluster::offer(text);
    if (!offered) return Refusal{"--environment: " + offered.error().text()};
    const auto is_same = [&](const auto& each) { return each.about.name == offered->about.name; };
    if (std::ranges::any_of(all, is_same))
      return Refusal{fmt::format("--environment: {} is there twice", offered->about.name)};
    all.push_back(std::move(offered).value());
  }
  return all;
}

// A higher --connections may come with a new configuration.
void raise_room() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) < 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

// What ends it, and what lets it read its configuration again.
struct Orders {
  int stop = -1, reload = -1;
};

struct RoutePlan : ServePlan {
  cluster::PeersApi::Options peers;  // none: it is alone
  std::vector<cluster::Offered> environments;
  std::vector<service::Listener> listeners;
};

int route(const CommandLine& line, RoutePlan plan, const ConfigReader& reader, Orders orders) {
  std::vector<std::string> names;
  for (const service::Listener& listener : plan.listeners) names.push_back(listener.name());
  const bool has_users = std::ranges::any_of(plan.listeners, &service::Listener::is_unix);
  service::notify_supervisor("READY=1");  // it listens, and can make no socket from here on
  const Places places(line.serve, plan.service.blobs);
  (void)images::sha256_of("");  // the library reads its configuration with its first use
  if (auto confined = sandbox::confine_front(places.plan(has_users)); !confined)
    return refuse("route", refusal_of(confined.error()));
  if (auto refusal = open_files(line.serve, plan.service)) return refuse("route", *refusal);

  const auto runtimes = std::make_shared<cluster::KnownRuntimes>();
  cluster::Fleet fleet({.seed = sys::random_number(), .blobs = plan.service.blobs});
  service::Facts facts = facts_of(line, plan.templates, fleet, runtimes);
  facts.reread = [&reader] { return reader.read(); };
  plan.service.warm = false;
  plan.service.parts.emplace_back(
      [&, options = pilots_of(line)](const service::ApiContext& context) {
        return std::make_unique<cluster::PilotsApi>(context, fleet, *runtimes, options);
      });
  if (cluster::PeersApi::Options& peers = plan.peers; !peers.others.empty()) {
    plan.service.router = peers.router;
    peers.patience = kLeasesOfSilence * line.route.lease;
    plan.service.parts.emplace_back([&peers](const service::ApiContext& context) {
      return std::make_unique<cluster::PeersApi>(context, std::move(peers));
    });
  }
  plan.service.parts.emplace_back(
      [&environments = plan.environments](const service::ApiContext& context) {
        return std::make_unique<cluster::EnvironmentsApi>(context, std::move(environments));
      });
  service::Service service(fleet, std::move(plan.service), std::move(facts));
  for (service::Listener& listener : plan.listeners) service.add(std::move(listener));
  const auto ended = service.run(orders.stop, orders.reload, [&] { say_ready(line, names); });
  return ended ? kExitOk : refuse("route", refusal_of(ended.error()));
}

}  // namespace

int route_command(const CommandLine& line, const Parts& parts) {
  if (auto left = leave_pid_1(); !left) return refuse("route", refusal_of(left.error()));
  auto started = start_peers(line, name_of_router(line));
  if (auto* refusal = std::get_if<Refusal>(&started)) return refuse("route", *refusal);
  auto& peers = std::get<cluster::PeersApi::Options>(started);
  auto wish = plan_service(line, parts);
  if (auto* refusal = std::get_if<Refusal>(&wish)) return refuse("route", *refusal);
  RoutePlan plan{std::get<ServePlan>(std::move(wish)), std::move(peers), {}, {}};
  if (auto refusal = start_callbacks(line.serve, plan.service)) return refuse("route", *refusal);
  (void)images::utf8_locale();
  if (auto refusal = open_peers_tls(line, plan.peers)) return refuse("route", *refusal);
  auto environments = offer_environments(line);
  if (auto* refusal = std::get_if<Refusal>(&environments)) return refuse("route", *refusal);
  plan.environments = std::get<std::vector<cluster::Offered>>(std::move(environments));
  // A request that another router answers has a connection there, too.
  const size_t more = plan.peers.others.empty() ? 0 : line.serve.connections;
  if (auto refusal = make_room(line.serve, 1, more)) return refuse("route", *refusal);
  raise_room();
  auto reader = ConfigReader::start(line);
  if (!reader) return refuse("route", refusal_of(reader.error()));
  auto reload = install_reload_signal();
  if (!reload) return refuse("route", refusal_of(reload.error()));
  auto listeners = open_listeners(line.serve, kDefaultListen);
  if (auto* refusal = std::get_if<Refusal>(&listeners)) return refuse("route", *refusal);
  plan.listeners = std::get<std::vector<service::Listener>>(std::move(listeners));
  if (const auto root = images::Store::default_root()) plan.service.blobs = *root + "/blobs";
  if (!plan.service.blobs.empty()) (void)runtime::BlobStore(plan.service.blobs).make_folders();
  sys::give_back_freed_memory();
  return route(line, std::move(plan), *reader, {.stop = parts.stop->fd(), .reload = reload->get()});
}

}  // namespace cli
