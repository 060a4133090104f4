#include "tools/cli/serve/health.h"

#include <fmt/format.h>

#include <cstdlib>

#include "service/http/listener.h"
#include "tools/cli/http_client.h"
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

std::string without_scheme(const std::string& text) {
  constexpr std::string_view kScheme = "http://";
  if (!text.starts_with(kScheme)) return text;
  const std::string rest = text.substr(kScheme.size());
  return rest.substr(0, rest.find('/'));
}

// The syntax is --listen's, since the address may be the one that the service was given.
Result<ServiceAddress> read_address(const std::string& text) {
  service::ListenAddress address = TRY(service::parse_listen_address(without_scheme(text)));
  if (address.host == "0.0.0.0") address.host = "127.0.0.1";
  if (address.host == "::") address.host = "::1";
  if (!address.is_unix() && address.port == 0) return Error::because(text + ": which port?");
  return ServiceAddress{address.host, std::to_string(address.port), address.path, text};
}

}  // namespace

int health_command(const CommandLine& line) {
  const std::string text =
      line.health.address.empty() ? address_in_environment() : line.health.address;
  const char* path = line.health.ready ? "/readyz" : "/healthz";
  const auto say = [&](std::string_view what) {
    write_error_line(escape_controls(fmt::format("zygo health: {} at {}: {}", path, text, what),
                                     Lines::kEscape));
  };
  const Result<ServiceAddress> address = read_address(text);
  if (!address) {
    say(address.error().text());
    return kExitUsage;
  }
  const Result<HttpAnswer> answer = http_get(*address, {path, ""}, line.health.patience, -1);
  const bool good = answer && answer->status == 200;
  if (!good || !line.common.quiet)
    say(answer ? std::to_string(answer->status) : answer.error().text());
  return good ? kExitOk : kExitSomeFailed;
}

}  // namespace cli
