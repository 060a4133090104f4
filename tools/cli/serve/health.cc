#include "tools/cli/serve/health.h"

#include <fmt/format.h>

#include <cstdlib>

#include "service/http/listener.h"
#include "tools/cli/cluster/tls_options.h"
#include "tools/cli/http_client.h"
#include "tools/cli/refusal.h"
#include "tools/cli/text.h"

namespace cli {
namespace {

using sys::Error;
using sys::Result;

// The address at which the service that this environment configures can be reached from here.
std::string address_in_environment() {
  const char* listen = std::getenv("ZYGO_LISTEN");
  const std::string text = listen == nullptr ? "" : listen;
  const std::string first = text.substr(0, text.find(','));
  return first.empty() ? kDefaultListen : first;
}

// A URL, or what --listen takes, since the address may be the one that the service was given.
Result<cluster::JoinUrl> read_url(const std::string& text) {
  cluster::JoinUrl url;
  if (text.find("://") == text.npos) {
    const service::ListenAddress address = TRY(service::parse_listen_address(text));
    url = {.host = address.host, .port = address.port, .path = address.path};
    if (!url.is_unix() && url.port == 0) return Error::because(text + ": which port?");
  } else {
    url = TRY(parse_service_url(text));
  }
  if (url.host == "0.0.0.0") url.host = "127.0.0.1";
  if (url.host == "::") url.host = "::1";
  return url;
}

}  // namespace

int health_command(const CommandLine& line) {
  const HealthOptions& options = line.health;
  const std::string text = options.address.empty() ? address_in_environment() : options.address;
  const char* path = options.ready ? "/readyz" : "/healthz";
  const auto say = [&](std::string_view what) {
    write_error_line(escape_controls(fmt::format("zygo health: {} at {}: {}", path, text, what),
                                     Lines::kEscape));
  };
  const Result<cluster::JoinUrl> url = read_url(text);
  if (!url) {
    say(url.error().text());
    return kExitUsage;
  }
  const auto tls =
      open_tls({.ca = options.ca_file, .cert = options.cert_file, .key = options.key_file},
               url->tls, "ADDRESS");
  if (!tls) return refuse("health", {tls.error().text()});
  const Result<HttpAnswer> answer = http_get(*url, {path, "", tls->get()}, options.patience, -1);
  const bool good = answer && answer->status == 200;
  if (!good || !line.common.quiet)
    say(answer ? std::to_string(answer->status) : answer.error().text());
  return good ? kExitOk : kExitSomeFailed;
}

}  // namespace cli
