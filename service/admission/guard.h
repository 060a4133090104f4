#pragma once
// Guard: decides who may send a request. A unix socket's own mode has decided already; over TCP a
// client shows a token, or, where the service has none, comes by a name and from a page that it
// knows. Borrows what it reads, which a reload may change. Loop thread only.

#include <optional>
#include <string>
#include <vector>

#include "service/admission/cors.h"
#include "service/admission/hosts.h"
#include "service/admission/tokens.h"
#include "service/http/exchange.h"

namespace service {

// Where a client may bring its token, but for "Authorization: Bearer TOKEN". Empty: nowhere else.
struct TokenPlaces {
  std::string header = {};     // its name, in lower case
  std::string scheme = {};     // of Authorization, in lower case
  std::string parameter = {};  // of the query
};

class Guard {
 public:
  struct Rules {
    const Tokens& tokens;  // empty: none is asked for
    const Cors& cors;
    const Hosts& hosts;  // names that the service may be called by where no token is asked for
    bool page = true;    // the service's own page may call it
  };
  explicit Guard(Rules rules) : rules_(rules) {}

  void accept_token_in(TokenPlaces places) { token_places_.push_back(std::move(places)); }

  // Answers the request itself, and returns false, if it may not be served.
  bool admit(Exchange& exchange, Scope scope) const;
  // Null: the request brings no token that is known.
  const Tokens::Holder* holder_of(const Request& request) const;
  // False: the request comes from a web page that may not call this service.
  bool is_welcome(const Request& request) const;

 private:
  bool admit_without_tokens(Exchange& exchange) const;
  // One that it brings otherwise than as "Authorization: Bearer".
  std::optional<std::string> token_in(const Request& request) const;

  const Rules rules_;
  std::vector<TokenPlaces> token_places_;
};

}  // namespace service
