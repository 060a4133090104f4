#include "service/admission/cors.h"

#include <fmt/format.h>

#include <algorithm>

#include "service/admission/hosts.h"

namespace service {

using sys::Error;
using sys::Result;

namespace {

constexpr std::string_view kSchemes[] = {"http://", "https://"};

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view("-._:[]").find(c) != std::string_view::npos;
}

}  // namespace

Result<void> Cors::add(std::string_view origin) {
  if (origin == "*") {
    anyone_ = true;
    return {};
  }
  for (std::string_view scheme : kSchemes) {
    if (!origin.starts_with(scheme)) continue;
    const std::string_view host = origin.substr(scheme.size());
    if (host.empty() || !std::all_of(host.begin(), host.end(), is_host_character)) break;
    origins_.emplace_back(origin);
    return {};
  }
  return Error::because(
      fmt::format("\"{}\" is no origin; write e.g. https://grader.example, in lower case and "
                  "without a path",
                  origin));
}

bool Cors::allows(const Request& request) const {
  const std::string* origin = request.header("origin");
  if (!origin) return false;
  return anyone_ || std::find(origins_.begin(), origins_.end(), *origin) != origins_.end();
}

Headers Cors::headers(const Request& request) const {
  if (!anyone_ && origins_.empty()) return {};
  if (!allows(request)) return {{"Vary", "Origin"}};
  return {{"Access-Control-Allow-Origin", anyone_ ? "*" : *request.header("origin")},
          {"Access-Control-Expose-Headers",
           "Location, Retry-After, Idempotent-Replayed, traceresponse, Mcp-Session-Id, "
           "X-Next-Token"},
          {"Vary", "Origin"}};
}

bool Cors::is_preflight(const Request& request) const {
  return request.method == Method::kOptions && allows(request) &&
         request.header("access-control-request-method") != nullptr;
}

Response Cors::preflight_response() {
  Response response{.status = 204};
  response.headers = {
      {"Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, DELETE"},
      {"Access-Control-Allow-Headers",
       "Authorization, Content-Type, Content-Encoding, Idempotency-Key, X-Zygo-Patience, "
       "traceparent, tracestate, Mcp-Session-Id, Mcp-Protocol-Version, X-API-Key, X-Access-Token, "
       "E2b-Sandbox-Id, E2b-Sandbox-Port, E2B-Traffic-Access-Token, Connect-Protocol-Version, "
       "Connect-Timeout-Ms"},
      {"Access-Control-Max-Age", "600"}};
  return response;
}

bool is_own_page(const Request& request) {
  const std::string* origin = request.header("origin");
  const std::string* host = request.header("host");
  return origin && host && *origin == "http://" + *host && is_address(name_in_host(*host));
}

}  // namespace service
