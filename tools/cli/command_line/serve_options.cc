#include "tools/cli/command_line/serve_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cluster/callbacks/callback_url.h"
#include "service/apis/registry.h"
#include "tools/cli/command_line/carried_options.h"
#include "tools/cli/command_line/core/parsed_option.h"
#include "tools/cli/units.h"

namespace cli {
namespace {

sys::Result<unsigned> parse_mode(const std::string& text) {
  unsigned mode = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (error == std::errc{} && end == text.data() + text.size() && mode <= 0777) return mode;
  return sys::Error::because(fmt::format("\"{}\" is no mode; write e.g. 0660", text));
}

sys::Result<service::LogFormat> parse_log(const std::string& text) {
  if (text == "off") return service::LogFormat::kOff;
  if (text == "text") return service::LogFormat::kText;
  if (text == "json") return service::LogFormat::kJson;
  return sys::Error::because(fmt::format("\"{}\" is no format; choose text, json or off", text));
}

// "piston, dify or go-judge"
std::string names_of_apis(std::string_view before_the_last) {
  const auto known = service::known_apis();
  std::string names;
  for (const service::KnownApi& api : known) {
    if (!names.empty()) names += &api == &known.back() ? before_the_last : ", ";
    names += api.name;
  }
  return names;
}

void read_apis(const std::vector<std::string>& names, std::vector<const service::KnownApi*>& into) {
  for (const std::string& name : names) {
    const service::KnownApi* api = service::known_api(name);
    if (!api) {
      throw CLI::ValidationError(
          "--api", fmt::format("\"{}\" is no API; choose {}", name, names_of_apis(" or ")));
    }
    if (std::ranges::find(into, api) == into.end()) into.push_back(api);
  }
  std::stable_partition(into.begin(), into.end(), [](const auto* api) { return api->comes_first; });
}

void read_cors(const std::vector<std::string>& origins, service::Cors& into) {
  for (const std::string& origin : origins) {
    if (auto added = into.add(origin); !added)
      throw CLI::ValidationError("--cors", added.error().text());
  }
}

void read_hosts(const std::vector<std::string>& names, service::Hosts& into) {
  for (const std::string& name : names) {
    if (auto added = into.add(name); !added)
      throw CLI::ValidationError("--allow-host", added.error().text());
  }
}

void add_go_judge(CLI::App& app, ServeOptions& into) {
  app.option_defaults()->group("With --api go-judge, librechat");
  parsed_option(app, "--file-store", "SIZE", "Size of all files that clients keep (default 512M)",
                into.file_store, parse_size);
  parsed_option(app, "--file-keep", "TIME", "Unused files are kept this long (default 60m)",
                into.file_keep, parse_duration);
  app.add_option("--file-source", into.file_source,
                 "Requests may name files below this directory by their paths here")
      ->type_name("DIR");
  app.option_defaults()->group("Options");
}

void read_callbacks(const std::vector<std::string>& urls, std::vector<cluster::JoinUrl>& into) {
  for (const std::string& text : urls) {
    auto url = cluster::parse_callback_place(text);
    if (!url)
      throw CLI::ValidationError("--callbacks", fmt::format("\"{}\" {}", text, url.error().text()));
    into.push_back(std::move(url).value());
  }
}

void add_judge0(CLI::App& app, ServeOptions& into) {
  app.option_defaults()->group("With --api judge0");
  app.add_option_function<std::vector<std::string>>(
         "--callbacks",
         [&into](const std::vector<std::string>& urls) { read_callbacks(urls, into.callbacks); },
         "Submissions may name a callback_url at or below this one; may be repeated (default: "
         "none)")
      ->type_name("URL")
      ->take_all();
  app.option_defaults()->group("Options");
}

sys::Result<std::optional<service::TenantBy>> parse_tenant_by(const std::string& text) {
  if (const auto by = service::tenant_by_named(text)) return by;
  return sys::Error::because(
      fmt::format("\"{}\" is none of them; choose token, field or none", text));
}

void add_tenant_by(CLI::App& app, ServeOptions& into) {
  app.option_defaults()->group("Tenants");
  parsed_option(app, "--tenant-by", "WHAT",
                "Tenants are told apart by: token (default with --tokens), field, none",
                into.tenant_by, parse_tenant_by);
  app.option_defaults()->group("Options");
}

sys::Result<sys::Milliseconds> parse_stay(const std::string& text) {
  if (text == "none") return sys::Milliseconds(0);
  return parse_duration(text);
}

// Of the service that has the templates.
void add_tenants(CLI::App& app, ServeOptions& into) {
  app.option_defaults()->group("Tenants");
  whole_number(app.add_option("--tenant-templates", into.tenant_templates,
                              "Templates kept for tenants (default: chosen by memory)"),
               1u, 100'000u);
  parsed_option(app, "--tenant-idle", "TIME",
                "Unused templates of tenants are kept this long (default 5m)", into.tenant_idle,
                parse_duration);
  parsed_option(app, "--nodes-memory", "SIZE",
                "Memory for the nodes of all sessions; one tenant has half of what is free "
                "(default 1G)",
                into.nodes_memory, parse_size);
  app.add_option("--nodes-disk", into.nodes_disk,
                 "A folder for nodes that have no room in memory, compressed; they go with this "
                 "process")
      ->type_name("DIR");
  parsed_option(app, "--nodes-disk-size", "SIZE", "That they may take there (default 8G)",
                into.nodes_disk_size, parse_size);
  parsed_option(app, "--nodes-idle", "TIME",
                "Unused nodes of sessions are kept this long (default 30m)", into.nodes_idle,
                parse_duration);
  parsed_option(app, "--steps-stay", "TIME",
                "A step's process waits so long for the next step, or none (default 1s)",
                into.steps_stay, parse_stay);
  app.add_flag("--share-builds", into.share_builds,
               "Programs compiled for one tenant serve all of them");
  app.add_flag("--core-scheduling", into.core_scheduling,
               "No two templates, and so tenants, on one core's hardware threads at a time");
  app.option_defaults()->group("Options");
}

void add_serve_times(CLI::App& app, ServeOptions& into) {
  app.option_defaults()->group("Times");
  parsed_option(app, "--grace", "TIME", "Time that running jobs have at the end (default 10s)",
                into.grace, parse_duration);
  parsed_option(app, "--keep", "TIME",
                "Results of jobs with async=1 or a key are kept this long (default 10m)", into.keep,
                parse_duration);
  parsed_option(app, "--head-time", "TIME", "Limit for the head of a request (default 10s)",
                into.head_time, parse_duration);
  parsed_option(app, "--body-time", "TIME",
                "Limit for its body, and 1s more for each KiB that came (default 30s)",
                into.body_time, parse_duration);
  parsed_option(app, "--write-time", "TIME", "Limit without the client taking a byte (default 30s)",
                into.write_time, parse_duration);
  parsed_option(app, "--idle-time", "TIME", "Limit between two requests (default 75s)",
                into.idle_time, parse_duration);
  parsed_option(app, "--ping-time", "TIME",
                "Silence on a WebSocket before a ping, and wait for its answer (default 20s)",
                into.ping_time, parse_duration);
  app.option_defaults()->group("Options");
}

void add_serve_durable(CLI::App& app, ServeOptions& into) {
  app.option_defaults()->group("Durable jobs");
  app.add_option("--durable", into.durable,
                 "Database of jobs that survive a crash (?async=1&durable=1); created if missing")
      ->type_name("FILE");
  parsed_option(app, "--durable-keep", "TIME", "Their results are kept this long (default 1440m)",
                into.durable_keep, parse_duration);
  parsed_option(app, "--durable-size", "SIZE",
                "Size of them all; the oldest results leave first, then 507 (default 1G)",
                into.durable_size, parse_size);
  whole_number(app.add_option("--durable-queue", into.durable_queue,
                              "Durable jobs that may wait (default 100000)"),
               1u, 10'000'000u);
  app.option_defaults()->group("Options");
}

void add_workers(CLI::App& app, ServeOptions& into) {
  whole_number(
      app.add_option("--workers", into.workers, "Jobs that run at once (default: chosen by cores)"),
      1u, 4096u);
}

// Where it listens, and for whom.
void add_listening(CLI::App& app, ServeOptions& into, const char* usual) {
  app.add_option("--listen", into.listen,
                 fmt::format("HOST:PORT or unix:PATH; may be repeated (default {})", usual))
      ->type_name("ADDRESS")
      ->take_all();
  app.add_option("--tokens", into.tokens, "Clients and their rights: lines NAME TOKEN [SCOPE,...]")
      ->type_name("FILE");
  app.add_flag("--allow-anyone", into.allow_anyone,
               "Listen without tokens where other hosts can reach it");
  parsed_option(app, "--socket-mode", "MODE", "Mode of a unix socket's file (default 0600)",
                into.socket_mode, parse_mode);
  app.add_option_function<std::vector<std::string>>(
         "--allow-host",
         [&into](const std::vector<std::string>& names) { read_hosts(names, into.hosts); },
         "Without tokens: clients may call it by this name, too (*.NAME: by all below it); may be "
         "repeated")
      ->type_name("NAME")
      ->take_all();
  parsed_option(app, "--log", "FORMAT", "Access log on stderr: text (default), json, off", into.log,
                parse_log);
}

// Whose jobs it takes, and how many.
void add_clients(CLI::App& app, ServeOptions& into) {
  whole_number(app.add_option("--queue", into.queue, "Jobs that may wait (default 1000)"), 1u,
               1'000'000u);
  whole_number(
      app.add_option("--connections", into.connections, "Connections at once (default 256)"), 1u,
      100'000u);
  parsed_option(app, "--max-body", "SIZE", "Size of one request (default 64M)", into.max_body,
                parse_size);
  parsed_option(app, "--held", "SIZE", "Bytes held for all requests together (default 1G)",
                into.held, parse_size);
  app.add_option("--defaults", into.defaults,
                 "JSON object: fields of a job that a request leaves out")
      ->type_name("FILE");
  app.add_option_function<std::vector<std::string>>(
         "--api", [&into](const std::vector<std::string>& names) { read_apis(names, into.apis); },
         "Speak this one, too: " + names_of_apis(", ") + "; may be repeated")
      ->type_name("NAME")
      ->take_all();
  app.add_flag("--no-page", into.no_page, "No page for people at /");
  app.add_option_function<std::vector<std::string>>(
         "--cors",
         [&into](const std::vector<std::string>& origins) { read_cors(origins, into.cors); },
         "Pages of this origin may send requests, e.g. https://grader.example; may be repeated")
      ->type_name("ORIGIN")
      ->take_all();
}

}  // namespace

void add_serve(CLI::App& app, CommandLine& line) {
  ServeOptions& into = line.serve;
  add_workers(app, into);
  add_listening(app, into, kDefaultListen);
  add_clients(app, into);
  add_tenant_by(app, into);
  add_tenants(app, into);
  add_go_judge(app, into);
  add_judge0(app, into);
  add_serve_times(app, into);
  add_serve_durable(app, into);
}

namespace {

void add_peers(CLI::App& app, RouteOptions& into) {
  app.option_defaults()->group("Other routers");
  app.add_option(
         "--peer", into.peers,
         "Another router for the same callers, by its --name and its URL (repeatable); needs "
         "--tokens")
      ->type_name("NAME=URL");
  app.add_option("--ca-file", into.ca_file, "Who may vouch for an https router: PEM")
      ->type_name("FILE");
  app.add_option("--cert-file", into.cert_file, "Certificate that such a router asks for: PEM")
      ->type_name("FILE");
  app.add_option("--key-file", into.key_file, "Its key: PEM, not encrypted")->type_name("FILE");
}

}  // namespace

void add_route(CLI::App& app, CommandLine& line) {
  ServeOptions& into = line.serve;
  app.add_option("--name", line.route.name, "Its name, for pilots and people (default: the host's)")
      ->type_name("NAME");
  parsed_option(app, "--lease", "TIME",
                "A pilot that is silent for so long counts as lost (default 10s)", line.route.lease,
                parse_duration);
  app.add_option("--environment", line.route.environments,
                 "A packed environment (zygo image pack) for pilots that ask for it (repeatable)")
      ->type_name("NAME=FILE");
  add_listening(app, into, kDefaultListen);
  add_clients(app, into);
  add_tenant_by(app, into);
  add_go_judge(app, into);
  add_judge0(app, into);
  add_serve_times(app, into);
  add_serve_durable(app, into);
  add_peers(app, line.route);
}

void add_slots(CLI::App& app, PilotOptions& into) {
  whole_number(app.add_option("--cpus", into.cpus, "Cores of each (default 1)"), 1u, 4096u);
  parsed_option(app, "--memory", "SIZE", "Memory of each (default 4G)", into.memory, parse_size);
  parsed_option(app, "--slot-time", "TIME", "slurm, htcondor: the slot ends then (default: open)",
                into.slot_time, parse_duration);
}

namespace {

void add_print(CLI::App& app, PilotOptions& into) {
  app.option_defaults()->group(kPrintGroup);
  app.add_option("--print", into.print,
                 "A submit file, manifest or script: slurm, htcondor, kubernetes, ssh")
      ->check(CLI::IsMember({"slurm", "htcondor", "kubernetes", "ssh"}))
      ->type_name("ENGINE");
  whole_number(app.add_option("--pilots", into.pilots, "How many (default 1)"), 1u, 100'000u);
  whole_number(app.add_option("--most-pilots", into.most_pilots,
                              "kubernetes: scale up to so many (default: four times --pilots)"),
               1u, 100'000u);
  add_slots(app, into);
  app.add_option("--host", into.hosts, "ssh: where to start one; may be repeated")
      ->type_name("HOST")
      ->take_all();
  app.add_option("--pod-image", into.pod_image, "kubernetes: the container image (default zygo)")
      ->type_name("IMAGE");
  app.add_option("--pod-namespace", into.pod_namespace, "kubernetes: the namespace (default zygo)")
      ->type_name("NAME");
  app.option_defaults()->group("Options");
}

}  // namespace

void add_pilot(CLI::App& app, CommandLine& line) {
  ServeOptions& into = line.serve;
  PilotOptions& pilot = line.pilot;
  app.add_option("--join", pilot.join,
                 "A router: http://HOST:PORT, https://HOST[:PORT] or unix:PATH; may be repeated")
      ->type_name("URL")
      ->required()
      ->take_all();
  app.add_option("--token-file", pilot.token_file, "Its first line is the token of this pilot")
      ->type_name("FILE");
  app.add_option("--ca-file", pilot.ca_file,
                 "https: certificates that a router's may be signed by (default: the system's)")
      ->type_name("FILE");
  app.add_option("--cert-file", pilot.cert_file, "https: the certificate of this pilot")
      ->type_name("FILE");
  app.add_option("--key-file", pilot.key_file, "https: its key")->type_name("FILE");
  app.add_option("--name", pilot.name, "Its name, for people (default: by its slot)")
      ->type_name("NAME");
  app.add_option("--environment", pilot.environment,
                 "A packed environment of the router's, by name or digest, instead of --python")
      ->type_name("NAME");
  app.add_option("--engine", pilot.engine, "What has started it, for people (default: found)")
      ->type_name("NAME");
  app.add_option("--until", pilot.until,
                 "The end of its slot in seconds since 1970 (default: as the engine says)")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber);
  parsed_option(app, "--drain-before", "TIME",
                "So long before that end it takes nothing new (default 60s)", pilot.drain_before,
                parse_duration);
  add_workers(app, into);
  add_listening(app, into, "none");
  parsed_option(app, "--held", "SIZE", "Bytes held for all requests together (default 1G)",
                into.held, parse_size);
  parsed_option(app, "--grace", "TIME", "Time that running jobs have at the end (default 10s)",
                into.grace, parse_duration);
  add_tenants(app, into);
  add_print(app, pilot);
}

std::string finish_pilot(const CLI::App& app, CommandLine& line) {
  if (line.pilot.print.empty()) return "";
  line.pilot.carried = options_for_pilots(*app.get_subcommand("pilot"), line.from_environment);
  if (std::ranges::count(line.pilot.carried.names, "--grace") > 0)
    line.pilot.carried_grace = line.serve.grace;
  return "";
}

}  // namespace cli
