#include "tools/cli/cluster/scale.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "cluster/engines/print.h"
#include "cluster/link/join_url.h"
#include "cluster/scale/scaler.h"
#include "sandbox/sys/file.h"
#include "tools/cli/cluster/print.h"
#include "tools/cli/cluster/tls_options.h"
#include "tools/cli/http_client.h"
#include "tools/cli/refusal.h"
#include "tools/cli/subprocess.h"
#include "tools/cli/text.h"
#include "tools/cli/token_file.h"

namespace cli {
namespace {

using cluster::EngineCommand;
using cluster::Scaler;
using sys::Error;
using sys::Result;

constexpr sys::Milliseconds kPatience{10'000};   // for the router's answer
constexpr sys::Milliseconds kEndingPace{1'000};  // between two looks while pilots end

Result<std::string> run_engine(const EngineCommand& command) {
  const std::string& name = command.argv.front();
  // Never stopped half way: it may be about to tell the engine something.
  Ended ended =
      TRY(run_subprocess({.file = name, .argv = command.argv, .input = command.input}, -1));
  if (ended.timed_out) return Error::because(name + " has not ended within 120 s");
  if (ended.code == 0) return std::move(ended.out);
  std::string& said = ended.err.empty() ? ended.out : ended.err;
  while (!said.empty() && said.back() == '\n') said.pop_back();
  return Error::because(fmt::format("{} ended with status {}: {}", name, ended.code, said));
}

// The router that is looked at.
struct Watched {
  cluster::JoinUrl url;
  std::string token;
  std::shared_ptr<const cluster::TlsContext> tls;  // of https:// alone
};

Result<cluster::RouterView> ask_router(const Watched& router) {
  const HttpRequest request = {"/v1/pilots", router.token, router.tls.get()};
  const HttpAnswer answer = TRY(http_get(router.url, request, kPatience, -1));
  const auto because = [&](const std::string& why) {
    return Error::because(fmt::format("{}: {}", router.url.text(), why));
  };
  if (answer.status == 401) return because("a token is asked for: --token-file FILE");
  if (answer.status == 403) return because("the token does not have the scope metrics");
  if (answer.status == 404) return because("it is no router (zygo route)");
  if (answer.status != 200) return because(fmt::format("it answers with status {}", answer.status));
  auto view = cluster::parse_router_view(answer.body);
  if (!view) return because(view.error().text());
  return view;
}

std::string sentence_of(const Scaler::Report& report, bool only_says) {
  std::string text = fmt::format("{} pilots run ({} joined), {} wait", report.look.running,
                                 report.look.joined, report.look.waiting);
  if (!report.waits.empty()) text += fmt::format(" ({})", report.waits);
  text += fmt::format("; {} jobs at {} workers, a new one waits {} ms", report.look.under_way,
                      report.look.workers, report.look.wait.count());
  const char* would = only_says ? "would " : "";
  if (report.step.more > 0) text += fmt::format("; {}ask for {} more", would, report.step.more);
  if (report.step.recall > 0) text += fmt::format("; {}recall {}", would, report.step.recall);
  if (report.step.retire > 0) text += fmt::format("; {}retire {}", would, report.step.retire);
  if (!report.trouble.empty()) text += "; " + report.trouble;
  return text;
}

std::string json_of(const Scaler::Report& report) {
  const nlohmann::ordered_json all = {{"running", report.look.running},
                                      {"joined", report.look.joined},
                                      {"waiting", report.look.waiting},
                                      {"waits", report.waits},
                                      {"workers", report.look.workers},
                                      {"under_way", report.look.under_way},
                                      {"estimated_wait_ms", report.look.wait.count()},
                                      {"more", report.step.more},
                                      {"recall", report.step.recall},
                                      {"retire", report.step.retire},
                                      {"trouble", report.trouble}};
  return all.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

// What is said again only when it has changed.
std::string news_of(const Scaler::Report& report) {
  return fmt::format("{} {} {} {}", report.look.running, report.look.joined, report.look.waiting,
                     report.trouble);
}

class Supervision {
 public:
  Supervision(Scaler scaler, const ScaleOptions& options, bool json, const StopSignals& stop)
      : scaler_(std::move(scaler)), options_(options), json_(json), stop_(stop) {}

  int run() {
    while (!stop_.came()) {
      tell(scaler_.look(sys::monotonic_now()));
      pause(options_.every);
    }
    return options_.dry_run ? kExitOk : end();
  }

 private:
  void pause(sys::Milliseconds time) const {
    pollfd watched{stop_.fd(), POLLIN, 0};
    (void)::poll(&watched, 1, static_cast<int>(time.count()));
  }

  void tell(const Scaler::Report& report) {
    const std::string news = news_of(report);
    if (report.step == cluster::ScaleStep{} && news == told_) return;
    told_ = news;
    say_line(json_ ? json_of(report) : sentence_of(report, options_.dry_run));
  }

  void say_line(const std::string& line) const {
    if (json_) {
      (void)sys::write_all(STDOUT_FILENO, line + "\n");
    } else {
      write_error_line("zygo scale: " + line);
    }
  }

  // A signal that comes now ends us at once (StopSignals); who starts us again finds the slots.
  int end() {
    const sys::Nanoseconds give_up = sys::monotonic_now() + options_.ending;
    std::string trouble;
    for (;;) {
      const Result<size_t> left = scaler_.end();
      if (left && *left == 0) return kExitOk;
      trouble = left ? fmt::format("{} pilots have not ended", *left) : left.error().text();
      if (sys::monotonic_now() >= give_up) break;
      if (!json_) say_line("ending: " + trouble);
      wait_once();
    }
    return refuse("scale", {fmt::format("after {} s: {}", options_.ending.count() / 1000, trouble),
                            kExitSandbox});
  }
  static void wait_once() { (void)::poll(nullptr, 0, static_cast<int>(kEndingPace.count())); }

  Scaler scaler_;
  const ScaleOptions& options_;
  const bool json_;
  const StopSignals& stop_;
  std::string told_;
};

bool is_https(const std::string& url) { return url.starts_with("https://"); }

// Why it cannot begin; empty: it can.
std::string objection_to(const ScaleOptions& options, cluster::Engine engine,
                         const cluster::PrintOptions& printed) {
  if (options.engine == "kubernetes")
    return "--engine: Kubernetes scales by itself: zygo pilot --print kubernetes prints its "
           "HorizontalPodAutoscaler";
  if (options.most < options.least || options.most == 0)
    return fmt::format("--max: expected at least one, and no fewer than --min {}", options.least);
  if (const std::string why = cluster::objection_to_slot_name(options.name); !why.empty())
    return "--name: " + why;
  for (const std::string& each : options.directives) {
    if (const std::string why = cluster::objection_to_directive(engine, each); !why.empty())
      return fmt::format("--directive {}: {}", each, why);
  }
  const bool has_tls_files =
      !printed.ca_file.empty() || !printed.cert_file.empty() || !printed.key_file.empty();
  if (has_tls_files && std::ranges::none_of(printed.joins, is_https))
    return "--pilot-ca-file, --pilot-cert-file, --pilot-key-file: pilots join nobody by https://";
  return cluster::objection_to_print(engine, printed);
}

Scaler scaler_of(const ScaleOptions& options, cluster::Engine engine,
                 const cluster::PrintOptions& printed, Watched router) {
  return {{.router = [router = std::move(router)] { return ask_router(router); },
           .run = run_engine,
           .printed =
               [engine, printed](unsigned pilots) {
                 cluster::PrintOptions some = printed;
                 some.pilots = pilots;
                 return cluster::print_engine(engine, some);
               }},
          {.engine = engine,
           .name = options.name,
           .directives = options.directives,
           .limits = {.least = options.least,
                      .most = options.most,
                      .wait = options.wait,
                      .idle = options.idle,
                      .settling = options.settling},
           .only_says = options.dry_run}};
}

// Pilots dial the router where we do, and trust whom we trust, if nothing else is said.
PilotOptions pilots_to_ask_for(const CommandLine& line) {
  PilotOptions pilots = line.pilot;
  if (pilots.join.empty()) pilots.join = {line.scale.url};
  if (pilots.ca_file.empty() && std::ranges::any_of(pilots.join, is_https))
    pilots.ca_file = line.scale.ca_file;
  return pilots;
}

// --ca-file may be there for pilots alone.
cluster::TlsFiles tls_files_of(const ScaleOptions& options, bool has_https,
                               const PilotOptions& pilots) {
  const bool is_for_pilots = !has_https && pilots.ca_file == options.ca_file;
  return {.ca = is_for_pilots ? "" : options.ca_file,
          .cert = options.cert_file,
          .key = options.key_file};
}

}  // namespace

int scale_command(const CommandLine& line, const Parts& parts) {
  const ScaleOptions& options = line.scale;
  const auto engine = cluster::engine_of(options.engine).value_or(cluster::Engine::kNone);
  const PilotOptions pilots = pilots_to_ask_for(line);
  const cluster::PrintOptions printed = print_options_of(pilots);
  if (const std::string why = objection_to(options, engine, printed); !why.empty())
    return refuse("scale", {why});
  Result<cluster::JoinUrl> url = parse_service_url(options.url);
  if (!url) return refuse("scale", {"--url: " + url.error().text()});
  Result<std::string> token = read_token_file(options.token_file);
  if (!token) return refuse("scale", {"--token-file: " + token.error().text()});
  auto tls = open_tls(tls_files_of(options, url->tls, pilots), url->tls, "--url");
  if (!tls) return refuse("scale", {tls.error().text()});
  Watched router{*std::move(url), *std::move(token), *std::move(tls)};
  return Supervision(scaler_of(options, engine, printed, std::move(router)), options,
                     line.common.json, *parts.stop)
      .run();
}

}  // namespace cli
