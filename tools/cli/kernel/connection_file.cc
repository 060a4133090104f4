#include "tools/cli/kernel/connection_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace cli {
namespace {

using nlohmann::json;

constexpr std::array<const char*, kChannels> kPorts{"shell_port", "iopub_port", "stdin_port",
                                                    "control_port", "hb_port"};

std::string text_in(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

int64_t port_in(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

}  // namespace

sys::Result<ConnectionFile> parse_connection_file(std::string_view text) {
  constexpr int64_t kMostPort = 65535;
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return sys::Error::because("is not an object of JSON");
  ConnectionFile made;
  made.key = text_in(object, "key");
  if (made.key.empty()) return sys::Error::because("has no key");
  if (const std::string scheme = text_in(object, "signature_scheme"); scheme != "hmac-sha256")
    return sys::Error::because(
        fmt::format("signature_scheme is \"{}\"; only hmac-sha256 is known", scheme));
  const std::string transport = text_in(object, "transport");
  const bool is_tcp = transport == "tcp";
  if (!is_tcp && transport != "ipc")
    return sys::Error::because(fmt::format("transport is \"{}\", not tcp or ipc", transport));
  const std::string ip = text_in(object, "ip");
  if (ip.empty()) return sys::Error::because("has no ip");
  for (size_t i = 0; i < kChannels; ++i) {
    const int64_t port = port_in(object, kPorts[i]);
    if (port < 1 || port > kMostPort)
      return sys::Error::because(fmt::format("{} is no port", kPorts[i]));
    made.endpoints[i] = fmt::format("{}://{}{}{}", transport, ip, is_tcp ? ':' : '-', port);
  }
  return made;
}

}  // namespace cli
