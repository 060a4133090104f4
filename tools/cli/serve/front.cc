#include "tools/cli/serve/front.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "images/sha256.h"
#include "images/utf8_locale.h"
#include "runtime/remote/engine_client.h"
#include "sandbox/front.h"
#include "sandbox/sys/freed_memory.h"
#include "service/service.h"
#include "tools/cli/cluster/pilot.h"
#include "tools/cli/command_line/command_line.h"
#include "tools/cli/runtime_list.h"
#include "tools/cli/serve/callbacks.h"
#include "tools/cli/serve/places.h"
#include "tools/cli/serve/plan.h"
#include "tools/cli/serve/reload.h"
#include "tools/cli/template_list.h"

namespace cli {
namespace {

using sys::Result;

// With its loop, the process has one thread less than a service of one process had: a service in a
// small group of tasks is two processes now.
constexpr const char* kThreads = "3";

std::variant<std::vector<service::Listener>, Refusal> adopt_listeners(size_t count) {
  std::vector<service::Listener> listeners;
  for (size_t i = 0; i < count; ++i) {
    sys::OwnedFd fd(kFrontChannel + 1 + static_cast<int>(i));
    if (::fcntl(fd.get(), F_SETFD, FD_CLOEXEC) < 0)
      return Refusal{"a listening socket is missing", kExitSandbox};
    auto listener = service::Listener::adopt(std::move(fd));
    if (!listener) return Refusal{listener.error().text(), kExitSandbox};
    listeners.push_back(std::move(listener).value());
  }
  return listeners;
}

service::Facts facts_of(const CommandLine& line, std::vector<runtime::TemplateSpec> known,
                        runtime::EngineClient& engine) {
  using runtime::Question;
  service::Facts facts;
  facts.knows_template = [known](const std::string& name) {
    return !check_template(name, known).has_value();
  };
  facts.runtimes = [&engine] {
    auto answer = engine.ask(Question::kRuntimes);
    return answer ? std::pair(answer->text, answer->is_whole) : std::pair(std::string(), false);
  };
  std::erase_if(known, [](const auto& spec) { return spec.runtime != nullptr; });
  facts.templates = template_json(known, line.common.python) + "\n";
  facts.selfcheck = [&engine]() -> Result<std::string> {
    return TRY(engine.ask(Question::kSelfcheck)).text;
  };
  facts.reread = [&engine]() -> Result<service::ReloadableConfig> {
    return config_in(TRY(engine.ask(Question::kConfiguration)).text);
  };
  facts.tell = [&engine](runtime::ServiceState state) { engine.tell(state); };
  return facts;
}

// The engine's orders, as bytes that the service waits for.
struct Orders {
  sys::Pipe stop, reload;
  static Result<Orders> make() {
    Orders orders;
    orders.stop = TRY(sys::make_pipe(O_NONBLOCK));
    orders.reload = TRY(sys::make_pipe(O_NONBLOCK));
    return orders;
  }
  static void give(const sys::Pipe& pipe) { static_cast<void>(::write(pipe.writer.get(), "", 1)); }
};

int refuse_front(const CommandLine& line, const Refusal& refusal) {
  return refuse(name_of_command(line), refusal);
}
int refuse_front(const CommandLine& line, const sys::Error& error) {
  return refuse_front(line, Refusal{error.text(), kExitSandbox});
}

int answer_requests(const CommandLine& line, ServePlan plan, const FrontOrder& order,
                    std::unique_ptr<runtime::EngineClient> engine) {
  auto listeners = adopt_listeners(order.listeners);
  if (auto* refusal = std::get_if<Refusal>(&listeners)) return refuse_front(line, *refusal);
  auto orders = Orders::make();
  if (!orders) return refuse_front(line, orders.error());
  auto& sockets = std::get<std::vector<service::Listener>>(listeners);
  auto pilot_wish = plan_pilot(line.pilot);
  if (auto* refusal = std::get_if<Refusal>(&pilot_wish)) return refuse_front(line, *refusal);
  PilotPlan& pilot = std::get<PilotPlan>(pilot_wish);
  const bool has_users = std::ranges::any_of(sockets, &service::Listener::is_unix);
  const Places places(line.serve, order.blobs);
  (void)images::sha256_of("");  // the library reads its configuration with its first use
  auto confined = sandbox::confine_front(places.plan(has_users));
  if (!confined) return refuse_front(line, confined.error());
  // Bytes of strangers are read from here on: those in the files, and requests.
  plan.service.blobs = order.blobs;
  if (auto refusal = open_files(line.serve, plan.service)) return refuse_front(line, *refusal);
  service::Facts facts = facts_of(line, plan.templates, *engine);
  facts.join = [&](runtime::Loop& loop) {
    engine->join(loop,
                 {[&] { Orders::give(orders->stop); }, [&] { Orders::give(orders->reload); }});
  };
  if (!line.pilot.join.empty()) {
    plan.service.parts.push_back(
        membership_of(line.pilot, std::move(pilot), plan.templates, *engine));
  }
  service::Service service(*engine, std::move(plan.service), std::move(facts));
  for (service::Listener& listener : sockets) service.add(std::move(listener));
  const auto ended = service.run(orders->stop.reader.get(), orders->reload.reader.get(), [] {});
  engine->leave();  // the loop goes with the service
  if (!ended) return refuse_front(line, ended.error());
  return kExitOk;
}

}  // namespace

std::vector<std::string> front_arguments(const FrontOrder& order) {
  std::vector<std::string> all{kFrontName, std::to_string(order.listeners),
                               order.with_tokens ? "tokens" : "open", order.blobs};
  all.insert(all.end(), order.arguments.begin(), order.arguments.end());
  return all;
}

std::optional<FrontOrder> front_order(int argc, char** argv) {
  constexpr int kOwn = 4;
  if (argc < kOwn || argv[0] != std::string_view(kFrontName)) return std::nullopt;
  FrontOrder order;
  const std::string_view count = argv[1];
  std::from_chars(count.data(), count.data() + count.size(), order.listeners);
  order.with_tokens = argv[2] == std::string_view("tokens");
  order.blobs = argv[3];
  order.arguments.assign(argv + kOwn, argv + argc);
  return order;
}

int front_command(const FrontOrder& order) {
  // It ends when its parent says so: a service manager sends its signals to all processes.
  for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(each, SIG_IGN);
  ::prctl(PR_SET_NAME, kFrontName);
  ::setenv("UV_THREADPOOL_SIZE", kThreads, 1);
  sys::give_back_freed_memory();
  ::fcntl(kFrontChannel, F_SETFD, FD_CLOEXEC);
  sys::OwnedFd channel(kFrontChannel);
  auto wish = parse_command_line(order.arguments);
  if (int* code = std::get_if<int>(&wish)) return *code;
  const auto& line = std::get<CommandLine>(wish);
  auto templates = runtime::shipped_templates();
  if (!templates) return refuse_front(line, templates.error());
  auto plan = plan_service(line, {*std::move(templates), nullptr, nullptr});
  if (auto* refusal = std::get_if<Refusal>(&plan)) return refuse_front(line, *refusal);
  if (line.serve.tokens.empty() == order.with_tokens)
    return refuse_front(line,
                        Refusal{"--tokens: whether there are any can only change at a start"});
  auto& service = std::get<ServePlan>(plan).service;
  if (auto refusal = start_callbacks(line.serve, service)) return refuse_front(line, *refusal);
  (void)images::utf8_locale();
  auto engine = runtime::EngineClient::connect(std::move(channel));
  if (!engine) return refuse_front(line, engine.error());
  if (auto refusal = make_room(line.serve, (*engine)->workers()))
    return refuse_front(line, *refusal);
  return answer_requests(line, std::get<ServePlan>(std::move(plan)), order,
                         std::move(engine).value());
}

}  // namespace cli
