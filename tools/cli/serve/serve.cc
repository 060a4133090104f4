#include "tools/cli/serve/serve.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "sandbox/sys/file.h"
#include "service/service.h"
#include "tools/cli/runtime_list.h"
#include "tools/cli/selfcheck/process.h"
#include "tools/cli/serve/init_process.h"
#include "tools/cli/serve/reload.h"
#include "tools/cli/template_list.h"
#include "tools/cli/text.h"

#ifndef ZYGO_VERSION
#define ZYGO_VERSION "0"
#endif

namespace cli {
namespace {

using runtime::TemplateSpec;

std::string why(const std::string& path, const sys::Error& error) {
  return fmt::format("{}: {}", path,
                     error.code() != 0 ? std::strerror(error.code()) : error.text());
}

std::optional<Refusal> read_files(const ServeOptions& from, service::ServiceOptions& into) {
  if (auto refusal = read_tokens(from.tokens, into.tokens)) return refusal;
  if (!from.defaults.empty()) {
    sys::Result<std::string> text = sys::read_file(from.defaults);
    if (!text) return Refusal{why(from.defaults, text.error())};
    sys::Result<runtime::JobDefaults> defaults = runtime::parse_defaults(*text);
    if (!defaults) return Refusal{fmt::format("{}: {}", from.defaults, defaults.error().text())};
    if (!defaults->job.tenant.empty())
      return Refusal{from.defaults + ": tenant: the service says whose a job is (--tenant-by)"};
    into.defaults = std::move(defaults).value();
    into.defaults_text = std::move(text).value();
  }
  if (!from.durable.empty()) {
    const service::Ledger::Limits limits{
        .most_waiting = from.durable_queue, .most = from.durable_size, .keep = from.durable_keep};
    auto ledger = service::Ledger::open(from.durable, limits);
    if (!ledger) return Refusal{"--durable: " + ledger.error().text()};
    into.ledger = std::move(ledger).value();
  }
  return std::nullopt;
}

service::ServiceOptions service_options(const ServeOptions& from) {
  service::ServiceOptions options;
  options.http.connections = from.connections;
  options.http.limits = connection_limits(from);
  options.websocket.first_message = from.max_body.count;
  options.websocket.message = std::min(options.websocket.message, from.max_body.count);
  options.websocket.message_time = from.body_time;
  options.websocket.ping = from.ping_time;
  options.queue = from.queue;
  options.tenant_by = from.tenant_by.value_or(from.tokens.empty() ? service::TenantBy::kNone
                                                                  : service::TenantBy::kToken);
  // One client may have all but an eighth: a body of the full size must fit in there.
  options.held = std::max(from.held.count, from.max_body.count / 6 * 7);
  options.grace = from.grace;
  options.kept.keep = from.keep;
  options.log = from.log;
  options.apis = from.apis;
  options.cors = from.cors;
  options.hosts = from.hosts;
  options.page = !from.no_page;
  options.api_options.go_judge.store.bytes = from.file_store;
  options.api_options.go_judge.store.keep = from.file_keep;
  options.version = ZYGO_VERSION;
  return options;
}

// Its operators know these names.
std::optional<Refusal> open_local_files(const ServeOptions& from,
                                        service::GoJudgeApi::Options& into) {
  if (from.file_source.empty()) return std::nullopt;
  auto opened = service::LocalFiles::open(from.file_source);
  if (!opened) return Refusal{"--file-source: " + opened.error().text()};
  into.local = std::make_shared<const service::LocalFiles>(std::move(opened).value());
  return std::nullopt;
}

std::optional<Refusal> read_piston_pins(std::vector<service::piston::Pin>& into) {
  const char* given = std::getenv("PISTON_VERSIONS");
  auto pins = service::piston::pins_in(given ? given : "");
  if (!pins) return Refusal{"PISTON_VERSIONS: " + pins.error().text()};
  into = std::move(pins).value();
  return std::nullopt;
}

std::optional<Refusal> read_piston_limits(service::piston::Limits& into) {
  const std::pair<const char*, int64_t*> known[] = {
      {"PISTON_RUN_TIMEOUT", &into.run_timeout_ms},
      {"PISTON_COMPILE_TIMEOUT", &into.compile_timeout_ms},
      {"PISTON_OUTPUT_MAX_SIZE", &into.output_bytes}};
  constexpr int64_t kMost = 1'000'000'000;
  for (const auto& [name, value] : known) {
    const char* given = std::getenv(name);
    if (!given) continue;
    const std::string_view text = given;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
    if (error != std::errc() || end != text.data() + text.size() || *value < 1 || *value > kMost)
      return Refusal{fmt::format("{}: expected a whole number up to {}", name, kMost)};
  }
  return std::nullopt;
}

std::variant<std::vector<service::Listener>, Refusal> open_listeners(const ServeOptions& options) {
  auto inherited = service::Listener::inherited();
  if (!inherited) return Refusal{inherited.error().text(), kExitSandbox};
  std::vector<service::Listener> listeners = std::move(inherited).value();
  std::vector<std::string> wanted = options.listen;
  if (wanted.empty() && listeners.empty()) wanted.emplace_back(kDefaultListen);
  for (const std::string& text : wanted) {
    auto address = service::parse_listen_address(text);
    if (!address) return Refusal{"--listen: " + address.error().text()};
    auto listener = service::Listener::open(*address, options.socket_mode);
    if (!listener) return Refusal{"--listen: " + listener.error().text(), kExitSandbox};
    listeners.push_back(std::move(listener).value());
  }
  for (const service::Listener& listener : listeners) {
    if (listener.is_local() || !options.tokens.empty() || options.allow_anyone) continue;
    return Refusal{fmt::format(
        "{} can be reached from other hosts, and whoever reaches it could run programs here; give "
        "--tokens FILE (ZYGO_TOKENS), or say --allow-anyone (ZYGO_ALLOW_ANYONE=yes)",
        listener.name())};
  }
  return listeners;
}

service::Facts facts_of(const CommandLine& line, const Parts& parts,
                        std::vector<TemplateSpec> known) {
  service::Facts facts;
  facts.knows_template = [known](const std::string& name) {
    return !check_template(name, known).has_value();
  };
  facts.runtimes = [line, &parts] {
    const std::vector<OfferedRuntime> offered = offered_runtimes(line, parts);
    const bool is_whole = std::all_of(offered.begin(), offered.end(),
                                      [](const OfferedRuntime& each) { return each.asked; });
    return std::pair(runtime_json(offered) + "\n", is_whole);
  };
  std::erase_if(known, [](const TemplateSpec& spec) { return spec.runtime != nullptr; });
  facts.templates = template_json(known, line.common.python) + "\n";
  facts.selfcheck = [common = line.common, stop = parts.stop] {
    return run_selfcheck(common, stop);
  };
  return facts;
}

void say_ready(const CommandLine& line, const std::vector<std::string>& names,
               const runtime::Engine& engine) {
  if (line.common.json) {
    const nlohmann::ordered_json ready = {{"listening", names},
                                          {"level", sandbox::name_of(engine.standing().level)},
                                          {"workers", engine.workers()},
                                          {"pid", ::getpid()}};
    static_cast<void>(sys::write_all(STDOUT_FILENO, ready.dump() + "\n").ok());
  } else if (!line.common.quiet) {
    write_error_line(fmt::format("zygo serve: ready on {} (level {}, {} workers)",
                                 fmt::join(names, ", "), sandbox::name_of(engine.standing().level),
                                 engine.workers()));
  }
}

}  // namespace

int serve_command(const CommandLine& line, const Parts& parts) {
  if (auto left = leave_pid_1(); !left) return refuse("serve", {left.error().text(), kExitSandbox});
  auto engine_wish = engine_options(line.common, parts.builtin_templates, line.serve.workers);
  if (auto* refusal = std::get_if<Refusal>(&engine_wish)) return refuse("serve", *refusal);
  auto known = known_templates(line.common, parts.builtin_templates);
  auto& templates = std::get<std::vector<TemplateSpec>>(known);
  if (line.serve.held < line.serve.max_body)
    return refuse("serve", {"--held is less than --max-body: no body of that size would fit"});
  if (line.serve.cors.anyone() && line.serve.tokens.empty())
    return refuse("serve", {"--cors *: any page that somebody here opens could run programs; give "
                            "--tokens FILE, or name the origins"});
  service::ServiceOptions options = service_options(line.serve);
  if (auto refusal = read_files(line.serve, options)) return refuse("serve", *refusal);
  if (auto refusal = read_piston_limits(options.api_options.piston.limits))
    return refuse("serve", *refusal);
  if (auto refusal = read_piston_pins(options.api_options.piston.pins))
    return refuse("serve", *refusal);
  if (auto refusal = open_local_files(line.serve, options.api_options.go_judge))
    return refuse("serve", *refusal);
  auto& tenants = std::get<runtime::EngineOptions>(engine_wish);
  for (const service::KnownApi* api : options.apis) {
    if (!api->scratch_name.empty()) tenants.scratch_names.emplace_back(api->scratch_name);
  }
  tenants.tenant_templates = line.serve.tenant_templates;
  tenants.tenant_idle = line.serve.tenant_idle;
  tenants.share_builds = line.serve.share_builds;
  tenants.core_cookies = line.serve.core_scheduling;
  std::get<runtime::EngineOptions>(engine_wish).log =
      [log = line.serve.log](const std::string& step) {
        write_error_line(service::noted(log, step));
      };
  const std::string name = chosen_template(line.common);
  if (!name.empty()) options.defaults.job.template_name = name;
  if (auto refusal = check_template(options.defaults.job.template_name, templates))
    return refuse("serve", *refusal);
  options.blobs = std::get<runtime::EngineOptions>(engine_wish).blobs;
  auto listeners = open_listeners(line.serve);
  if (auto* refusal = std::get_if<Refusal>(&listeners)) return refuse("serve", *refusal);

  auto engine = parts.start_engine(std::get<runtime::EngineOptions>(std::move(engine_wish)));
  if (!engine) return refuse("serve", {engine.error().text(), kExitSandbox});
  if (auto refusal = make_room(line.serve.connections, (*engine)->workers()))
    return refuse("serve", *refusal);
  for (const TemplateSpec& spec : templates) {
    if (spec.name == options.defaults.job.template_name) options.warm = spec.runtime == nullptr;
  }
  service::Facts facts = facts_of(line, parts, templates);
  facts.reread = [line, workers = (*engine)->workers()] { return reread(line, workers); };
  service::Service service(**engine, std::move(options), std::move(facts));
  std::vector<std::string> names;
  for (service::Listener& listener : std::get<std::vector<service::Listener>>(listeners)) {
    names.push_back(listener.name());
    service.add(std::move(listener));
  }
  auto reload = install_reload_signal();
  if (!reload) return refuse("serve", {reload.error().text(), kExitSandbox});
  auto ended = service.run(parts.stop == nullptr ? -1 : parts.stop->fd(), reload->get(),
                           [&] { say_ready(line, names, **engine); });
  if (!ended) return refuse("serve", {ended.error().text(), kExitSandbox});
  return kExitOk;
}

}  // namespace cli
