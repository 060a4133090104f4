#include "service/apis/mcp/http_requests.h"

#include <fmt/format.h>

#include <algorithm>

#include "service/apis/mcp/conversation.h"

namespace service::mcp {

namespace {

constexpr std::string_view kJson = "application/json";

std::string lower(std::string_view text) {
  std::string made(text);
  for (char& c : made) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return made;
}

// "text/html" of "Text/HTML; charset=utf-8".
std::string essence_of(std::string_view type) {
  return lower(trimmed(type.substr(0, type.find(';'))));
}

bool accepts(const Request& request, std::string_view type) {
  const std::string* given = request.header("accept");
  if (!given) return false;
  std::string_view rest = *given;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(','), rest.size());
    if (essence_of(rest.substr(0, end)) == type) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

}  // namespace

Response rpc_error(int status, int code, std::string_view why) {
  return {.status = status, .body = line_of(error_of(nullptr, code, why)) + "\n"};
}

std::optional<Response> refusal_of(const Request& request) {
  const std::string* type = request.header("content-type");
  if (!type || essence_of(*type) != kJson)
    return rpc_error(415, kInvalidRequest, "Content-Type: expected application/json");
  if (request.body.size() > kMostBody)
    return rpc_error(413, kInvalidRequest,
                     fmt::format("a message has at most {} bytes", kMostBody));
  return std::nullopt;
}

std::optional<Response> refusal_of_version(const Request& request) {
  const std::string* version = request.header("mcp-protocol-version");
  if (!version || is_known_version(*version)) return std::nullopt;
  return rpc_error(400, kInvalidRequest,
                   fmt::format("MCP-Protocol-Version: this server speaks {}, {} and {}",
                               kNewestVersion, kVersionWithBatches, kOldestVersion));
}

bool takes_events(const Request& request) { return accepts(request, "text/event-stream"); }

}  // namespace service::mcp
