#include "tools/cli/serve/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "runtime/json/job/job_json.h"
#include "sandbox/sys/file.h"
#include "tools/cli/serve/reload.h"

#ifndef ZYGO_VERSION
#define ZYGO_VERSION "0"
#endif

namespace cli {
namespace {

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
  options.api_options.judge0.store.keep = from.keep;
  options.version = ZYGO_VERSION;
  return options;
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

}  // namespace

std::string name_of_command(const CommandLine& line) {
  if (line.command == Command::kRoute) return "route";
  return line.command == Command::kPilot ? "pilot" : "serve";
}

std::variant<ServePlan, Refusal> plan_service(const CommandLine& line, const Parts& parts) {
  ServePlan plan;
  auto known = known_templates(line.common, parts.builtin_templates);
  if (auto* refusal = std::get_if<Refusal>(&known)) return *refusal;
  plan.templates = std::get<std::vector<runtime::TemplateSpec>>(std::move(known));
  const auto is_judge0 = [](const service::KnownApi* api) {
    return api->name == service::judge0::kApiName;
  };
  if (!line.serve.callbacks.empty() && std::ranges::none_of(line.serve.apis, is_judge0))
    return Refusal{"--callbacks: needs --api judge0"};
  if (line.serve.held < line.serve.max_body)
    return Refusal{"--held is less than --max-body: no body of that size would fit"};
  if (line.serve.cors.anyone() && line.serve.tokens.empty())
    return Refusal{
        "--cors *: any page that somebody here opens could run programs; give "
        "--tokens FILE, or name the origins"};
  service::ServiceOptions& options = plan.service = service_options(line.serve);
  options.command = name_of_command(line);
  if (auto refusal = read_files(line.serve, options)) return *refusal;
  if (auto refusal = read_piston_limits(options.api_options.piston.limits)) return *refusal;
  if (auto refusal = read_piston_pins(options.api_options.piston.pins)) return *refusal;
  const std::string name = chosen_template(line.common);
  if (!name.empty()) options.defaults.job.template_name = name;
  if (auto refusal = check_template(options.defaults.job.template_name, plan.templates))
    return *refusal;
  for (const runtime::TemplateSpec& spec : plan.templates) {
    if (spec.name == options.defaults.job.template_name) options.warm = spec.runtime == nullptr;
  }
  return plan;
}

std::optional<Refusal> open_files(const ServeOptions& from, service::ServiceOptions& into) {
  if (!from.durable.empty()) {
    const service::Ledger::Limits limits{
        .most_waiting = from.durable_queue, .most = from.durable_size, .keep = from.durable_keep};
    auto ledger = service::Ledger::open(from.durable, limits);
    if (!ledger) return Refusal{"--durable: " + ledger.error().text()};
    into.ledger = std::move(ledger).value();
  }
  if (from.file_source.empty()) return std::nullopt;
  // Its operators know these names.
  auto opened = service::LocalFiles::open(from.file_source);
  if (!opened) return Refusal{"--file-source: " + opened.error().text()};
  into.api_options.go_judge.local =
      std::make_shared<const service::LocalFiles>(std::move(opened).value());
  return std::nullopt;
}

}  // namespace cli
