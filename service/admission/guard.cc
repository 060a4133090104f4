#include "service/admission/guard.h"

#include <fmt/format.h>

#include "service/http/handshake.h"

namespace service {

// A page in somebody's browser may send requests to this host, too.
bool Guard::is_welcome(const Request& request) const {
  return request.header("origin") == nullptr || rules_.cors.allows(request) ||
         (rules_.page && is_own_page(request));
}

const std::string* Guard::token_in_header(const Request& request) const {
  for (const std::string& name : token_headers_) {
    if (const std::string* given = request.header(name)) return given;
  }
  return nullptr;
}

const Tokens::Holder* Guard::holder_of(const Request& request) const {
  if (const std::string* given = request.header("authorization")) return rules_.tokens.find(*given);
  if (const std::optional<std::string> offered = offered_token(request))
    return rules_.tokens.find("Bearer " + *offered);
  const std::string* given = token_in_header(request);
  return given ? rules_.tokens.find("Bearer " + *given) : nullptr;
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
    const bool given =
        request.header("authorization") || offered_token(request) || token_in_header(request);
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
