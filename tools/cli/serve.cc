#include "tools/cli/serve.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "sandbox/sys/file.h"
#include "service/service.h"
#include "tools/cli/init_process.h"
#include "tools/cli/runtime_list.h"
#include "tools/cli/template_list.h"
#include "tools/cli/text.h"

#ifndef ZYGO_VERSION
#define ZYGO_VERSION "0"
#endif

namespace cli {
namespace {

using runtime::TemplateSpec;

constexpr size_t kTokensFile = size_t{1} << 20;
// A cell is a few pipes and sockets of ours; the rest is what libraries and logs hold.
constexpr rlim_t kDescriptorsPerWorker = 32, kDescriptorsOfOurs = 128;

std::string why(const std::string& path, const sys::Error& error) {
  return fmt::format("{}: {}", path,
                     error.code() != 0 ? std::strerror(error.code()) : error.text());
}

std::optional<Refusal> read_files(const ServeOptions& from, service::ServiceOptions& into) {
  if (!from.tokens.empty()) {
    sys::Result<std::string> text = sys::read_file(from.tokens, kTokensFile);
    if (!text) return Refusal{why(from.tokens, text.error())};
    sys::Result<service::Tokens> tokens = service::Tokens::parse(*text);
    if (!tokens) return Refusal{fmt::format("{}: {}", from.tokens, tokens.error().text())};
    into.tokens = std::move(tokens).value();
  }
  if (!from.defaults.empty()) {
    sys::Result<std::string> text = sys::read_file(from.defaults);
    if (!text) return Refusal{why(from.defaults, text.error())};
    sys::Result<runtime::JobDefaults> defaults = runtime::parse_defaults(*text);
    if (!defaults) return Refusal{fmt::format("{}: {}", from.defaults, defaults.error().text())};
    into.defaults = std::move(defaults).value();
  }
  return std::nullopt;
}

service::ServiceOptions service_options(const ServeOptions& from) {
  service::ServiceOptions options;
  options.http.connections = from.connections;
  options.http.limits.parser.body = from.max_body.count;
  options.http.limits.head = from.head_time;
  options.http.limits.body = from.body_time;
  options.http.limits.write = from.write_time;
  options.http.limits.idle = from.idle_time;
  options.queue = from.queue;
  options.held = from.held.count;
  options.grace = from.grace;
  options.kept.keep = from.keep;
  options.log = from.log;
  options.apis = from.apis;
  options.version = ZYGO_VERSION;
  return options;
}

// Its operators know these names.
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
        "--tokens FILE, or say --allow-anyone",
        listener.name())};
  }
  return listeners;
}

// Descriptors that connections take must not be missing where jobs are run.
std::optional<Refusal> make_room(size_t connections, unsigned workers) {
  const rlim_t wanted = connections + kDescriptorsPerWorker * workers + kDescriptorsOfOurs;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= wanted) return std::nullopt;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  if (limit.rlim_cur == wanted && ::setrlimit(RLIMIT_NOFILE, &limit) == 0) return std::nullopt;
  return Refusal{fmt::format("{} connections and {} workers need {} descriptors, and this process "
                             "may have {}: raise ulimit -n, or lower --connections",
                             connections, workers, wanted, limit.rlim_max),
                 kExitSandbox};
}

service::Facts facts_of(const CommandLine& line, const Parts& parts,
                        std::vector<TemplateSpec> known) {
  service::Facts facts;
  facts.knows_template = [known](const std::string& name) {
    return !check_template(name, known).has_value();
  };
  facts.runtimes = [line, &parts] { return runtime_json(offered_runtimes(line, parts)) + "\n"; };
  std::erase_if(known, [](const TemplateSpec& spec) { return spec.runtime != nullptr; });
  facts.templates = template_json(known, line.common.python) + "\n";
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
  service::ServiceOptions options = service_options(line.serve);
  if (auto refusal = read_files(line.serve, options)) return refuse("serve", *refusal);
  if (auto refusal = read_piston_limits(options.piston)) return refuse("serve", *refusal);
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
  service::Service service(**engine, std::move(options), facts_of(line, parts, templates));
  std::vector<std::string> names;
  for (service::Listener& listener : std::get<std::vector<service::Listener>>(listeners)) {
    names.push_back(listener.name());
    service.add(std::move(listener));
  }
  auto ended = service.run(parts.stop == nullptr ? -1 : parts.stop->fd(),
                           [&] { say_ready(line, names, **engine); });
  if (!ended) return refuse("serve", {ended.error().text(), kExitSandbox});
  return kExitOk;
}

}  // namespace cli
