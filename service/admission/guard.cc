#include "service/admission/guard.h"

#include <fmt/format.h>

#include <algorithm>

#include "service/http/handshake.h"

namespace service {

namespace {

bool has_prefix(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::ranges::equal(text.substr(0, lower.size()), lower, [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
         });
}

}  // namespace

// A page in somebody's browser may send requests to this host, too.
bool Guard::is_welcome(const Request& request) const {
  return request.header("origin") == nullptr || rules_.cors.allows(request) ||
         (rules_.page && is_own_page(request));
}

std::optional<std::string> Guard::token_in(const Request& request) const {
  if (const std::string* authorization = request.header("authorization")) {
    for (const TokenPlaces& places : token_places_) {
      const std::string scheme = places.scheme + ' ';
      if (!places.scheme.empty() && has_prefix(*authorization, scheme))
        return std::string(trimmed(std::string_view(*authorization).substr(scheme.size())));
    }
    return std::nullopt;
  }
  if (std::optional<std::string> offered = offered_token(request)) return offered;
  for (const TokenPlaces& places : token_places_) {
    const std::string* given = places.header.empty() ? nullptr : request.header(places.header);
    if (!given && !places.parameter.empty()) given = request.query_value(places.parameter);
    if (given) return *given;
  }
  return std::nullopt;
}

const Tokens::Holder* Guard::holder_of(const Request& request) const {
  if (const std::optional<std::string> given = token_in(request))
    return rules_.tokens.find("Bearer " + *given);
  const std::string* authorization = request.header("authorization");
  return authorization ? rules_.tokens.find(*authorization) : nullptr;
}

bool Guard::admit_without_tokens(Exchange& exchange) const {
  if (!rules_.hosts.knows(exchange.request, exchange.peer.is_this_host)) {
    exchange.answer(error_response(403, "host",
                                   "this service is not known by that name: call it by its "
                                   "address, give it tokens, or start it with --allow-host"));
    return false;
  }
  if (is_welcome(exchange.request)) return true;
  exchange.answer(error_response(403, "origin", "requests of web pages need a token"));
  return false;
}

bool Guard::admit(Exchange& exchange, Scope scope) const {
  if (scope == Scope::kOpen || exchange.peer.is_unix) return true;
  if (rules_.tokens.empty()) return admit_without_tokens(exchange);
  const Request& request = exchange.request;
  const Tokens::Holder* holder = holder_of(request);
  if (!holder) {
    const bool given = request.header("authorization") || token_in(request);
    Response response =
        error_response(401, "token", given ? "the token is not known" : "expected a bearer token");
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
    exchange.answer(std::move(response));
    return false;
  }
  exchange.client = holder->name;
  if (holder->may(scope)) return true;
  exchange.answer(error_response(
      403, "scope", fmt::format("the token does not have the scope {}", name_of(scope))));
  return false;
}

}  // namespace service
