#include "tools/cli/cluster/pilot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "cluster/environments/obtain.h"
#include "cluster/link/link.h"
#include "cluster/pilot/membership.h"
#include "images/store.h"
#include "sandbox/sys/file.h"
#include "tools/cli/cluster/tls_options.h"
#include "tools/cli/text.h"

#ifndef ZYGO_VERSION
#define ZYGO_VERSION "0"
#endif

namespace cli {
namespace {

constexpr unsigned kWorkersOfACore = 2;
constexpr sys::Milliseconds kToldAgain{1'000};  // how far a download is
// Of the pilot itself, its templates included; and of a job, as its limits usually are.
constexpr sys::Bytes kOwnMemory = sys::mebibytes(256);
constexpr size_t kMostOfAJob = size_t{1} << 30;  // bytes of a message of a router

std::string first_line_of(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
  return line;
}

bool fits_a_header(const std::string& token) {
  return std::ranges::all_of(token, [](unsigned char each) { return each > ' ' && each < 127; });
}

}  // namespace

std::variant<PilotPlan, Refusal> plan_pilot(const PilotOptions& options) {
  PilotPlan plan;
  for (const std::string& text : options.join) {
    auto url = cluster::parse_join_url(text);
    if (!url) return Refusal{"--join: " + url.error().text()};
    if (std::ranges::find(plan.routers, *url) != plan.routers.end())
      return Refusal{"--join: " + text + " is there twice"};
    plan.routers.push_back(std::move(url).value());
  }
  auto tls = open_tls({.ca = options.ca_file, .cert = options.cert_file, .key = options.key_file},
                      std::ranges::any_of(plan.routers, &cluster::JoinUrl::tls), "--join");
  if (!tls) return Refusal{tls.error().text()};
  plan.tls = std::move(tls).value();
  if (options.token_file.empty()) return plan;
  const auto text = sys::read_file(options.token_file);
  if (!text) return Refusal{"--token-file: " + text.error().text()};
  plan.token = first_line_of(*text);
  if (plan.token.empty() || !fits_a_header(plan.token)) {
    return Refusal{
        fmt::format("--token-file: {}: expected a token of printable characters in the first line",
                    options.token_file)};
  }
  return plan;
}

unsigned workers_in(const cluster::Slot& slot, unsigned host_cpus, unsigned asked) {
  unsigned most = asked;
  const auto bound = [&most](uint64_t workers) {
    const auto fewer = static_cast<unsigned>(std::clamp<uint64_t>(workers, 1, 4096));
    most = most == 0 ? fewer : std::min(most, fewer);
  };
  if (slot.cpus < host_cpus) bound(uint64_t{kWorkersOfACore} * slot.cpus);
  if (slot.memory) {
    const uint64_t usual = runtime::Limits{}.memory.count;
    const uint64_t left = slot.memory->count - std::min(slot.memory->count, kOwnMemory.count);
    const uint64_t workers = left / usual;
    if (workers < uint64_t{kWorkersOfACore} * slot.cpus) bound(workers);
  }
  return most;
}

PilotOptions settle(PilotOptions options, const cluster::Slot& slot) {
  const auto say = [](const char* name, const std::string& value) {
    if (!value.empty()) ::setenv(name, value.c_str(), 1);
  };
  if (options.name.empty()) say("ZYGO_NAME", options.name = slot.name);
  if (options.engine.empty() && slot.engine != cluster::Engine::kNone)
    say("ZYGO_ENGINE", options.engine = std::string(cluster::name_of(slot.engine)));
  if (options.until == 0 && slot.end) {
    options.until = slot.end->time_since_epoch().count();
    say("ZYGO_UNTIL", std::to_string(options.until));
  }
  return options;
}

std::optional<Refusal> obtain_environment(CommandLine& line, const PilotPlan& plan, int stop) {
  const std::string& name = line.pilot.environment;
  if (name.empty()) return std::nullopt;
  if (line.common.python != CommonOptions{}.python)
    return Refusal{"--environment: it is the interpreter, so --python has no place beside it"};
  const auto root = images::Store::default_root();
  if (!root) return Refusal{root.error().text()};
  cluster::ObtainOrder order{.router = {},
                             .token = plan.token,
                             .tls = plan.tls.get(),
                             .name = name,
                             .store = *root,
                             .stop = stop};
  order.progress = [&, told = sys::monotonic_now()](uint64_t bytes, uint64_t of) mutable {
    if (line.common.quiet || sys::monotonic_now() < told + kToldAgain) return;
    told = sys::monotonic_now();
    write_error_line(
        fmt::format("zygo pilot: environment {}: {} of {} MiB", name, bytes >> 20, of >> 20));
  };
  sys::Result<std::string> path = sys::Error::because("there is no router");
  for (const cluster::JoinUrl& router : plan.routers) {
    order.router = router;
    path = cluster::obtain_environment_file(order);
    if (path) break;
  }
  if (!path) return Refusal{"--environment: " + path.error().text(), kExitSandbox};
  line.common.python = *path;
  ::setenv("ZYGO_PYTHON", path->c_str(), 1);  // for the process without rights
  return std::nullopt;
}

service::ApiMaker membership_of(const PilotOptions& options, PilotPlan plan,
                                const std::vector<runtime::TemplateSpec>& templates,
                                runtime::EngineClient& engine) {
  cluster::Membership::Options made;
  made.hello.name = options.name.empty() ? "pilot" : options.name;
  made.hello.engine = options.engine;
  made.hello.zygo = ZYGO_VERSION;
  made.hello.until = options.until;
  for (const auto& spec : templates) made.hello.templates.push_back(spec.name);
  return [made, plan = std::move(plan), &engine](const service::ApiContext& context) {
    cluster::Membership::Options own = made;
    for (uint32_t index = 0; index < plan.routers.size(); ++index) {
      const cluster::JoinUrl& url = plan.routers[index];
      own.routers.push_back({.address = url.text(),
                             .dial = [&engine, index] { return engine.dial(index); },
                             .link =
                                 [url, token = plan.token, tls = plan.tls, &loop = context.loop](
                                     sys::OwnedFd socket, cluster::LinkListener& listener) {
                                   return cluster::Link::start(
                                       loop, std::move(socket), url, token, listener,
                                       {.message = kMostOfAJob, .tls = tls.get()});
                                 }});
    }
    return std::make_unique<cluster::Membership>(context, engine, std::move(own));
  };
}

}  // namespace cli
